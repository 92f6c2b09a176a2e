"""A page with nothing but a playground, under the strict policy that the report has."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from sparsegen.report.html import json_block
from sparsegen.report.playground import Playground


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page_of(made: Playground, data: Any = None) -> str:
    block = json_block(made.data if data is None else data)
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src {digest(made.script)} 'wasm-unsafe-eval'; style-src {digest(STYLE + made.style)}"
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Playground</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{STYLE}{made.style}</style></head>'
        f'<body><h3>Playground</h3>{made.html}<script type="application/json" id="playground-data">{block}</script>'
        f"<script>{made.script}</script></body></html>"
    )


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
@media (prefers-color-scheme: dark) { body { background: #11161b; color: #e3e9ee; } }
"""
READY = "Boolean(document.getElementById('playground').machine)"
