"""Identifiers for the classes of a model, made from labels that may hold anything.

A label gives its letters and digits; whatever else it holds only separates words. Labels that come out alike, or as a
word that is taken, get their class index added, so that every class has an identifier of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sparsegen.model import Label

MAX_SIGNIFICANT = 63  # characters of an identifier that every C99 compiler tells apart
MACRO_WORDS = frozenset(
    "ASM CLASSES EXPORT FEATURES H IMPLEMENTATION IMPLEMENTED OUTPUTS PROBABILITY REJECT ROM UNIT VECTORS".split()  # noqa: SIM905
)
"""Words of a header's macros: what model ``a`` makes of its class ``features``, model ``a_class`` may define."""
UNNAMED = "unnamed"


def constants(labels: Sequence[Label], prefix: str) -> list[str]:
    """Return a constant of C for each label: ``<prefix>_CLASS_LEFT``."""
    stem = f"{prefix}_CLASS_"
    room = MAX_SIGNIFICANT - len(stem) - len(f"_{len(labels)}")

    def constant(words: list[str]) -> str:
        return "_".join(words).upper()[:room].rstrip("_")

    def is_taken(name: str) -> bool:
        return not MACRO_WORDS.isdisjoint(name.split("_"))

    return [stem + name for name in _distinct(labels, constant, "_", is_taken)]


def variants(labels: Sequence[Label]) -> list[str]:
    """Return a variant of an enumeration for each label, as Rust and C++ write them: ``Left``."""

    def variant(words: list[str]) -> str:
        name = "".join(word[:1].upper() + word[1:].lower() for word in words)[:MAX_SIGNIFICANT]
        return f"Class{name}" if name[:1].isdigit() else name

    return _distinct(labels, variant, "N", lambda name: name == "Self")


def _distinct(
    labels: Sequence[Label], spell: Callable[[list[str]], str], joint: str, is_taken: Callable[[str], bool]
) -> list[str]:
    """Return a name for each label. One that ends with the joint and the class index is no other class's."""
    names = [spell(_words(label)) for label in labels]
    numbered = [f"{name}{joint}{i}" for i, name in enumerate(names)]
    times = Counter(names)
    mixed = [
        number if times[name] > 1 or is_taken(name) else name for name, number in zip(names, numbered, strict=True)
    ]
    return mixed if _are_distinct(mixed) else numbered


def _words(label: Label) -> list[str]:
    """Return the letters and digits of a label, word by word; a sign in front of a number is a word."""
    text = re.sub(r"^-(?=[0-9])", "minus ", str(label))
    return re.findall(r"[A-Za-z0-9]+", text, re.ASCII) or [UNNAMED]


def _are_distinct(names: Iterable[str]) -> bool:
    found = list(names)
    return len(set(found)) == len(found)
