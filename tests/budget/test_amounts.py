"""Bytes, milliseconds and hertz as people write them."""

from __future__ import annotations

import pytest

from sparsegen.budget.amounts import parse_bytes, parse_hertz, parse_milliseconds
from sparsegen.errors import OptionError


@pytest.mark.parametrize("text", ["4K", "4k", "4KB", "4kB", "4 KiB", "4096", "4096B", " 4096 ", "4.0k", "0.00390625M"])
def test_bytes_count_in_powers_of_two(text):
    assert parse_bytes(text) == 4096


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1ms", 1.0),
        ("1", 1.0),
        ("250us", 0.25),
        ("250 µs", 0.25),
        ("250\N{GREEK SMALL LETTER MU}s", 0.25),
        ("0.5s", 500.0),
        ("1e-3 s", 1.0),
        (".1ms", 0.1),
    ],
)
def test_times(text, milliseconds):
    assert parse_milliseconds(text) == milliseconds


@pytest.mark.parametrize("text", ["72MHz", "72 mhz", "72M", "72e6", "72000kHz", "72000000", "0.072GHz"])
def test_clocks(text):
    assert parse_hertz(text) == 72_000_000


NO_NUMBERS = ["", " ", "-1", "0", "nan", "inf", "1e999", "1e-99", "4Q", "K", "4 K B", "1,5", "0x10", "٤", "4K;rm"]


@pytest.mark.parametrize("text", [*NO_NUMBERS, "0.3", "1.5", "5000M"])
def test_what_is_no_number_of_bytes_is_one_sentence(text):
    with pytest.raises(OptionError, match=r"is no number of bytes; write it as 4096, 4K \(which is 4096\) or 1M$"):
        parse_bytes(text)


@pytest.mark.parametrize("text", [*NO_NUMBERS, "4K", "1h"])
def test_what_is_no_time_is_one_sentence(text):
    with pytest.raises(OptionError, match=r"is no time; write it as 1ms, 250us or 0\.5s$"):
        parse_milliseconds(text)


@pytest.mark.parametrize("text", [*NO_NUMBERS, "1ms", "0.5", "1000GHz"])
def test_what_is_no_clock_is_one_sentence(text):
    with pytest.raises(OptionError, match="is no clock frequency; write it as 72MHz, 32kHz or 16e6"):
        parse_hertz(text)
