"""Pages of small models for tests, and what an HTML parser sees in a page."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
from golden_models import model, rbf, wave

from sparsegen.budget.budget import Budget
from sparsegen.data import Dataset, from_arrays
from sparsegen.model import Calibration, SparseModel
from sparsegen.model.held_out import remember
from sparsegen.search.front import Front, Point

VOID = {"meta", "img", "link", "br", "hr", "input", "rect", "line", "circle", "polyline"}


class Parsed(HTMLParser):
    """Elements with their attributes, the text of each, and what stands in scripts and styles."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        """Scripts and styles: tag, attributes and content."""
        self.comments: list[str] = []
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append((tag, dict(attrs), ""))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            tag, attributes, text = self.raw[-1]
            self.raw[-1] = (tag, attributes, text + data)
        else:
            self.texts.append((self._open[-1] if self._open else "", data))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def scripts(self) -> list[str]:
        """JavaScript, in order."""
        return [text for tag, attributes, text in self.raw if tag == "script" and "type" not in attributes]

    def documents(self) -> dict[str, Any]:
        """JSON blocks by their id."""
        blocks = [(a, text) for _, a, text in self.raw if a.get("type") == "application/json"]
        return {str(attributes["id"]): json.loads(text) for attributes, text in blocks}

    @property
    def text(self) -> str:
        """All text that a visitor may see."""
        return "".join(text for _, text in self.texts)


def small(classes: tuple[int | str, ...] = ("left", "right", "up"), d: int = 4, **card: Any) -> SparseModel:
    """Return a model with probabilities, made by hand."""
    made = model([rbf()], 6, d, classes, card={"method": "by hand", **card})
    kind = "platt" if len(classes) == 2 else "temperature"
    return replace(made, calibration=Calibration(kind, 2.0))


def rows_of(of: SparseModel, n: int = 60, source: str = "rows.csv", step: float = 0.37) -> Dataset:
    """Return rows with labels, or values, of which about one in eight is not the model's."""
    X = wave(n, of.n_features, step=step, size=2.0)
    wrong = np.arange(n) % 8 == 3
    if not of.has_classes:
        return from_arrays(X, of.predict(X) + 0.5 * wrong, of.card.get("feature_names"), source)
    index = of.predict_index(X)
    labels = np.array(of.classes)[np.where(wrong, (index + 1) % len(of.classes), index)]
    return from_arrays(X, labels, of.card.get("feature_names"), source)


def held_from(of: SparseModel, rows: Dataset, held: slice) -> SparseModel:
    """Return the model whose card remembers that some of the rows were held out."""
    mask = np.zeros(len(rows.X), dtype=bool)
    mask[held] = True
    kept = remember(rows.X[mask], rows.X[~mask])
    card = {"held_out": kept, "accuracy": 0.875, "test_rows": int(mask.sum())}
    return replace(of, card={**of.card, **card})


def point(number: int, score: float, flash: int, time: float, **more: Any) -> Point:
    """Return a candidate."""
    known = {"parameters": {"method": "slmc", "C": 1.5}, "dtype": "q7", "reads": "f32", "metric": "accuracy"}
    return Point(
        number=number,
        score=score,
        flash=flash,
        ram=200,
        n_vectors=5 + number,
        instructions=1000 * time,
        milliseconds=time,
        **{**known, **more},
    )


def front(**more: Any) -> Front:
    """Return a front of three points, with two other candidates."""
    candidates = [
        point(0, 0.80, 1000, 0.5),
        point(1, 0.90, 2000, 0.4),
        point(2, 0.70, 2500, 0.9),
        point(3, 0.95, 4000, 1.5),
        point(4, 0.85, 5000, 2.0),
    ]
    options = {"device": "cortex-m3", "part": "STM32F103C8", "budget": Budget(4096, 512, 2.0), "metric": "accuracy"}
    return Front.of(candidates, 1, **{**options, **more})
