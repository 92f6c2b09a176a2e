"""A model for people: one line at a prompt, a table for ``inspect()``, a card in notebooks.

Labels, feature names and whatever else a card holds may be anybody's: nothing of it reaches a terminal or a browser as
more than text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sparsegen.data.checks import printable, short
from sparsegen.model.card import known_accuracy
from sparsegen.model.value_quality import known_values
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.model.sparse_model import SparseModel

SHOWN_CLASSES = 6
MAX_CELL = 120  # characters of a value; the dictionary itself holds all of it
OPEN = ("method", "kernels", "vectors", "features", "classes", "accuracy", "recall", "errors")
"""What a card in a notebook shows first; a click opens the rest."""
TOLD_IN_WORDS = {
    "accuracy",
    "accuracy_interval",
    "test_rows",
    "per_class",
    "confusion",
    "class_counts",
    "held_out",
    "values",
}
"""What is shown as a sentence instead, or is for programs only."""


class Inspection(dict[str, Any]):
    """A model's facts and its card by name; prints as a table."""

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        """Return the same as a table for notebooks."""
        return _table(self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Return names and values as text for people: on one line each, of bounded length."""
        shown: dict[str, str] = {}
        if self.get("accuracy") is not None:
            known = known_accuracy(self)
            shown["accuracy"] = percent(self["accuracy"]) if known is None else str(known)
        if "per_class" in self:
            shown["recall"] = words({one["class"]: _recall(one) for one in self["per_class"]})
        if (errors := known_values(self)) is not None:
            shown["errors"] = str(errors)
        shown |= {key: words(value) for key, value in self.items() if key not in TOLD_IN_WORDS}
        return [(printable(str(key)).replace("_", " "), _cut(text)) for key, text in shown.items()]


def one_line(model: SparseModel) -> str:
    """Return what a model is in one line: method, size, classes, kernels, accuracy."""
    method = _cut(str(model.card.get("method", "unknown method")))
    size = f"{model.n_vectors} vectors, {model.n_features} features, {_gives(model)}"
    kernels = "; ".join(
        f"{kernel.name}({', '.join(f'{name}={value:g}' for name, value in kernel.params)})" for kernel in model.kernels
    )
    accuracy = model.card.get("accuracy")
    known = "" if accuracy is None else f"; accuracy {_accuracy(model)}"
    if (errors := known_values(model.card)) is not None:
        known += f"; {errors.figures} on {errors.rows} test rows"
    return f"<SparseModel {method}: {size}; {kernels}{known}>"


def html_card(facts: Inspection) -> str:
    """Return a model as a card for notebooks: what a person asks first, and the rest one click away."""
    lines = facts.lines()
    names = {name.replace("_", " ") for name in OPEN}
    first = _table([(name, text) for name, text in lines if name in names])
    rest = _table([(name, text) for name, text in lines if name not in names])
    return f"<div><b>SparseModel</b>{first}<details><summary>all else</summary>{rest}</details></div>"


def _gives(model: SparseModel) -> str:
    """Return what a model gives: classes, of which the first are named, or a value."""
    if not model.has_classes:
        return "one value"
    labels = [short(label) for label in model.classes[:SHOWN_CLASSES]]
    more = ["..."] if len(model.classes) > SHOWN_CLASSES else []
    return f"{len(model.classes)} classes ({', '.join([*labels, *more])})"


def _accuracy(model: SparseModel) -> str:
    share, rows = model.card["accuracy"], model.card.get("test_rows")
    return percent(share) if rows is None else f"{percent(share)} on {rows} test rows"


def _table(lines: list[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in lines)
    return f"<table>{rows}</table>"


def words(value: Any) -> str:
    """Return a value of a card as a person would write it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {words(item)}" for name, item in value.items() if item is not None)
    if isinstance(value, list):
        return ", ".join(words(item) for item in value)
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _recall(of_class: dict[str, Any]) -> str | None:
    return None if of_class["recall"] is None else percent(of_class["recall"])


def _cut(text: str) -> str:
    """Return text that stays on its line, of bounded length."""
    shown = printable(text)
    return shown if len(shown) <= MAX_CELL else f"{shown[:MAX_CELL]} ..."
