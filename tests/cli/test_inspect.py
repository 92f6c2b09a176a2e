"""What --image means."""

from __future__ import annotations

import pytest

from sparsegen.cli.inspect import parse_size
from sparsegen.errors import OptionError


@pytest.mark.parametrize(
    ("text", "size"), [("16x16", (16, 16)), ("3x4", (3, 4)), ("1x1", (1, 1)), ("0008x9999", (8, 9999))]
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "16", "x", "16x", "0x4", "4x0", "-1x4", "16X16", "16x16x3", "1e2x4", "10000x1", " 4x4"]
)
def test_bad_sizes_are_one_sentence(text):
    with pytest.raises(OptionError, match="must be HEIGHTxWIDTH, such as 16x16"):
        parse_size(text)
