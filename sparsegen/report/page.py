"""The page: sections in their order, one style sheet, one policy that lets nothing else in.

The policy (Content-Security-Policy) allows the page's own scripts and styles by their hashes and pictures that are in
the page; nothing is loaded from anywhere, and what escaping might have missed would not run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from sparsegen.data import Dataset
from sparsegen.errors import DataError
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel
from sparsegen.report.header import header
from sparsegen.report.html import fill, json_block, text_of
from sparsegen.report.section import Section
from sparsegen.report.sections import SECTIONS
from sparsegen.report.subject import PICK_COMMAND, Subject
from sparsegen.version import __version__

if TYPE_CHECKING:
    from sparsegen.search.front import Front


def report(
    model: SparseModel,
    test_set: Dataset,
    *,
    train_set: Dataset | None = None,
    front: Front | None = None,
    devices: Iterable[str] | None = None,
    numbers: Format = FLOAT32,
    image: tuple[int, int] | None = None,
    name: str = "model",
    pick_command: str = PICK_COMMAND,
    baselines: bool = True,
) -> bytes:
    """Return the page as UTF-8; the same input gives the same bytes.

    Args:
        model: What the page is about.
        test_set: Labelled rows with the model's features. Rows that the model's card does not know to be held out are
            never counted as a test.
        train_set: Rows that baselines are trained on; without it, those of ``test_set`` that are not held out.
        front: What a search found, for the plot of what else could be had.
        devices: Where costs are measured; default: all microcontrollers that can run here. The first is the main one.
        numbers: The number format of the C.
        image: Height and width where the features are pixels; ``None`` guesses for square images.
        name: The prefix of the C's symbols.
        pick_command: The command that writes another point of the front, up to its number.
        baselines: Whether to train and measure baselines, which takes most of the time.
    """
    for rows in (test_set, train_set):
        if rows is not None and rows.X.shape[1] != model.n_features:
            raise DataError(
                f"{rows.source} has {rows.X.shape[1]} features, but the model has {model.n_features}; bring rows of "
                "the features that the model was trained on"
            )
    chosen = None if devices is None else tuple(devices)
    subject = Subject(model, test_set, train_set, front, chosen, numbers, image, name, pick_command, baselines)
    sections = [made for section in SECTIONS if (made := section(subject)) is not None]
    return page(subject, sections)


def page(subject: Subject, sections: Sequence[Section]) -> bytes:
    """Return the page with these sections below its header."""
    scripts = [Markup(script) for script in dict.fromkeys(s for part in sections for s in (*part.scripts,))]  # noqa: S704
    scripts.append(Markup(text_of("page.js")))  # noqa: S704 - sparsegen's own
    style = "\n".join([text_of("page.css"), *(rules for part in sections for rules in part.styles)])
    blocks = [(name, json_block(document)) for part in sections for name, document in part.data.items()]
    head = header(subject)
    filled = fill(
        "page.html.j2",
        policy=policy(scripts, style, wasm=any(part.needs_wasm for part in sections)),
        title=head.title,
        header=head.html,
        sections=sections,
        style=Markup(style),  # noqa: S704 - sparsegen's own
        scripts=scripts,
        blocks=blocks,
        version=__version__,
    )
    return filled.encode()


def policy(scripts: Iterable[str], style: str, *, wasm: bool) -> str:
    """Return the page's Content-Security-Policy."""
    allowed = [*map(source_hash, scripts), *(["'wasm-unsafe-eval'"] if wasm else [])]
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(allowed)}",
            f"style-src {source_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def source_hash(text: str) -> str:
    """Return how a policy names an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
