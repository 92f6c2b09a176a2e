"""What one section gives to the page: HTML, the data and scripts that it needs, and nothing that was not escaped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    identifier: str
    """Its anchor: lower-case words with hyphens."""
    title: str
    """Its heading: text, which the page escapes."""
    html: Markup
    """Its content below the heading, made by :func:`sparsegen.report.html.fill`, which escapes all that it places."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON documents by the ``id`` of their ``<script type="application/json">``; the page escapes them."""
    scripts: tuple[str, ...] = ()
    """JavaScript, which runs once the page stands; each is sparsegen's own text and holds no data."""
    styles: tuple[str, ...] = ()
    """Rules of its own."""
    needs_wasm: bool = False
    """Whether the page's policy must allow WebAssembly."""
