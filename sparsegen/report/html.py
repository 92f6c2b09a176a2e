"""HTML from templates that escape everything they place, and JSON that no HTML parser sees anything in."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sparsegen.targets.render import template_folder


def fill(template: str, **values: Any) -> Markup:
    """Return ``templates/report/TEMPLATE`` with values in their places, each escaped unless it is a ``Markup``."""
    return Markup(_environment().get_template(f"report/{template}").render(**values))  # noqa: S704 - escaped there


def text_of(name: str) -> str:
    """Return a file of ``templates/report`` as it is: a style sheet or a script."""
    return (template_folder() / "report" / name).read_text(encoding="utf-8")


def json_block(document: Any) -> Markup:
    """Return JSON for inside a ``<script>``: no character of it means anything to an HTML parser."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - ASCII without <, > and &


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(template_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
