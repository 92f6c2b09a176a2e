"""Features in rows and columns, as images and series have them: ``28x28/2x2`` is 28 rows of 28, and 2x2 of them."""

from __future__ import annotations

import re

from sparsegen.errors import OptionError

FORM = re.compile(r"([1-9]\d{0,5})x([1-9]\d{0,5})/(\d{1,6})x(\d{1,6})")


def parse_layout(parameter: str, text: str, n_features: int) -> tuple[int, int, int, int]:
    """Return height, width and the two numbers behind the slash, of which one at least is not zero."""
    match = FORM.fullmatch(text)
    numbers = [] if match is None else [int(number) for number in match.groups()]
    if not any(numbers[2:]):
        raise OptionError(f"{parameter} is {text[:40]!r}, but must be HEIGHTxWIDTH/ROWSxCOLUMNS, such as 28x28/2x2")
    height, width, down, across = numbers
    if height * width != n_features:
        raise OptionError(f"{parameter} speaks of {height} x {width} features, but the data have {n_features}")
    return height, width, down, across
