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

from sparsegen.budget.budget import Budget
from sparsegen.data import Dataset, match_features
from sparsegen.devices import Profile
from sparsegen.errors import DataError
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel
from sparsegen.model.draw import check_size
from sparsegen.report.header import header
from sparsegen.report.html import fill, json_block, text_of
from sparsegen.report.section import Section
from sparsegen.report.sections import SECTIONS
from sparsegen.report.subject import Subject
from sparsegen.report.vega import require_vega
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
    profile: Profile | None = None,
    clock_hz: int | None = None,
    budget: Budget | None = None,
    numbers: Format = FLOAT32,
    image: tuple[int, int] | None = None,
    name: str = "model",
    pick_command: str | None = None,
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
        profile: The part that the devices stand for, instead of their own.
        clock_hz: Its clock.
        budget: What a prediction may cost; costs beyond it are told, and baselines get its flash.
        numbers: The number format of the C.
        image: Height and width where the features are pixels; ``None`` guesses for square images.
        name: The prefix of the C's symbols.
        pick_command: The command that writes another point of the front, up to its number, where there is one.
        baselines: Whether to train and measure baselines, which takes most of the time.
    """
    names = model.card.get("feature_names")
    rows = match_features(test_set, names, model.n_features)
    train = None if train_set is None else match_features(train_set, names, model.n_features)
    if len(rows.X) == 0:
        raise DataError(f"{rows.source} has no rows; a page needs some that the model can be tested on")
    if front is not None:
        require_vega()
    if image is not None:
        check_size(image, model.n_features)
    chosen = None if devices is None else tuple(devices)
    subject = Subject(
        model,
        rows,
        train,
        front,
        chosen,
        profile=profile,
        clock_hz=clock_hz,
        budget=budget,
        numbers=numbers,
        image=image,
        name=name,
        pick_command=pick_command,
        with_baselines=baselines,
    )
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
