"""The playground: the exported C in the browser, as WebAssembly."""

from __future__ import annotations

from sparsegen.errors import ToolError
from sparsegen.report.html import fill
from sparsegen.report.playground import playground
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject


def section(subject: Subject) -> Section | None:
    """Return the playground; ``None`` where there is no compiler to build it with."""
    tested = subject.tested
    try:
        made = playground(
            subject.lowered,
            tested.X,
            tested.y,
            feature_names=subject.feature_names,
            image_shape=subject.image_size,
            name=subject.name,
        )
    except ToolError:
        return None
    html = fill("playground.html.j2", content=made.html, which=tested.which)
    data = {"playground-data": made.data}
    return Section("try", "Try it", html, data, scripts=(made.script,), styles=(made.style,), needs_wasm=True)
