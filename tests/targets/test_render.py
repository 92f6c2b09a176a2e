"""Numbers and untrusted text on their way into C."""

from __future__ import annotations

import re
import string

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from sparsegen.errors import ModelError, OptionError
from sparsegen.targets.render import c_array, c_comment, c_real, c_string, check_name, render

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(floats)
@example(-0.0)
@example(1e-45)
@example(float(np.finfo(np.float32).max))
@example(16777216.0)
def test_c_real_reads_back_the_same(value):
    text = c_real(value)
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?f", text)
    assert "." in text or "e" in text, "1f is no constant of C"
    back = np.float32(text[:-1])
    assert back == np.float32(value)
    assert np.signbit(back) == np.signbit(np.float32(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_c_real_rounds_a_double_or_refuses_it(value):
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if np.isfinite(rounded):
        assert np.float32(c_real(value)[:-1]) == rounded
    else:
        with pytest.raises(ModelError, match="does not fit in float32; rescale the features"):
            c_real(value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_c_real_refuses_what_is_no_number(value):
    with pytest.raises(ModelError, match="does not fit in float32"):
        c_real(value)


@given(st.lists(floats, min_size=1, max_size=200), st.integers(0, 8))
def test_c_array_holds_every_value_in_order_on_short_lines(values, indent):
    text = c_array(np.array(values), indent)
    found = re.findall(r"-?[\d.e+-]+f", text)
    assert np.array_equal(np.array([item[:-1] for item in found], dtype=np.float32), np.array(values, dtype=np.float32))
    assert max(map(len, text.splitlines())) <= 112
    assert text.count("{") == text.count("}") == 1


def test_c_array_prints_integers_as_they_are():
    assert c_array([0, -3, 12]) == "{0, -3, 12}"
    assert c_array(np.array([1.0, 2.0])) == "{1.0f, 2.0f}"


@given(st.text())
@example('"); system("')
@example("??/")
@example("\\")
@example("1\n2")
def test_c_string_is_the_bytes(text):
    literal = c_string(text)
    inside = literal[1:-1]
    assert literal[0] == literal[-1] == '"'
    assert set(inside) <= set(string.printable[:95]) - {'"', "?"}
    decoded = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), inside.encode())
    assert decoded == text.encode()


@given(st.text(alphabet='*/\\?ab"\n\tü'))
@example("*/")
@example("**//")
@example("/*/")
@example("??/")
@example("\\\\/")
def test_c_comment_stays_inside_its_comment(text):
    shown = c_comment(text)
    assert "*/" not in shown
    assert "/*" not in shown
    assert "??/" not in shown
    assert "\\" not in shown
    assert shown.isascii()
    assert shown.isprintable()


def test_c_comment_keeps_every_plain_character():
    plain = "".join(chr(c) for c in range(0x20, 0x7F) if chr(c) != "\\")
    assert c_comment(plain) == plain
    assert c_comment("\x1f\x7f\\") == "???"


@pytest.mark.parametrize("name", ["m", "model", "Gesture2", "a_b_c", "x" * 40, "scores", "abs", "exp2"])
def test_good_names(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "2d",
        "_m",
        "m_",
        "a__b",
        "a-b",
        "a b",
        "../x",
        "a/b",
        "a.b",
        "größe",
        "m\n",
        "x" * 41,
        "a;b",
        "\uff41",
        "m\x00",
    ],
)
def test_bad_names_are_one_sentence(name):
    with pytest.raises(
        OptionError, match="cannot prefix C symbols; use a letter, then letters, digits and single under"
    ):
        check_name(name)


@pytest.mark.parametrize("name", ["int", "main", "class", "restrict", "xor", "float", "template"])
def test_reserved_words_are_refused(name):
    with pytest.raises(OptionError, match="is a reserved word of C or C"):
        check_name(name)


@pytest.mark.parametrize("name", ["errno", "stdio", "Math", "stdint", "features", "example_main", "aux", "COM1"])
def test_names_of_system_files_are_refused(name):
    with pytest.raises(OptionError, match="the name of a system file; choose another"):
        check_name(name)


def test_a_template_that_names_what_it_is_not_given_fails():
    with pytest.raises(UndefinedError):
        render("c/model.h.j2", name="m")
