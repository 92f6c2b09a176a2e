"""Axes, pictures, and the guess whether rows are images."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from sparsegen.report.axis import Axis, place, round_step, tick_text
from sparsegen.report.figures import milliseconds, plural, share, signed, whole
from sparsegen.report.pixels import DIVERGING, HEAT, guess_image, levels, png


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 37), (-3, 4), (0.001, 0.002), (1e6, 3e6), (5, 5)])
def test_ticks_lie_on_the_axis_at_round_values(low: float, high: float) -> None:
    axis = Axis(low, high, 50, 450)
    ticks = axis.ticks(6)
    assert 1 <= len(ticks) <= 7
    for tick in ticks:
        value = float(tick.text.replace(",", "").replace("\N{MINUS SIGN}", "-"))
        assert 50 - 1e-6 <= float(tick.at) <= 450 + 1e-6
        assert float(tick.at) == pytest.approx(axis(value), abs=0.02 if high > low else 500)


def test_steps_are_one_two_or_five() -> None:
    assert [round_step(value) for value in (0.9, 1.0, 1.1, 3, 7, 0.03)] == [1, 1, 2, 5, 10, 0.05]
    assert round_step(0.0) == round_step(float("inf")) == 1.0


def test_places_are_short() -> None:
    assert [place(value) for value in (1.0, 0.125, -0.001, 100.0)] == ["1", "0.12", "0", "100"]
    assert tick_text(-0.5, 0.5) == "\N{MINUS SIGN}0.5"


def test_figures_are_rounded_to_the_safe_side() -> None:
    assert whole(1234.2) == "1,235"
    assert share(0.12301) == "12.4 %"
    assert milliseconds(0.24911) == "249.2 \N{MICRO SIGN}s"
    assert milliseconds(1.00001) == "1.001 ms"
    assert milliseconds(12345.1) == "12,346 ms"
    assert milliseconds(None) == whole(None) == "\N{EN DASH}"
    assert [plural(n, "class") for n in (1, 2)] == ["1 class", "2 classes"]
    assert [signed(x, 1) for x in (-0.04, -0.06, 0.5)] == ["0.0", "\N{MINUS SIGN}0.1", "0.5"]


def decoded(address: str) -> tuple[np.ndarray, bytes | None]:
    """Return the levels and the palette of a PNG, each chunk checked."""
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        kind, body = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        assert struct.unpack(">I", content[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks)[-1] == b"IEND"
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()  # no filter
    return rows[:, 1:], chunks.get(b"PLTE")


def test_a_png_holds_the_levels() -> None:
    image = (np.arange(35) * 7).astype(np.uint8).reshape(5, 7)
    assert np.array_equal(decoded(png(image))[0], image)
    drawn, colours = decoded(png(image, HEAT))
    assert np.array_equal(drawn, image)
    assert colours is not None
    assert len(colours) == 3 * 256


def test_palettes_run_from_end_to_end() -> None:
    assert HEAT[0] == (255, 255, 255)
    assert HEAT[255] == (110, 20, 10)
    middle = DIVERGING[127]
    assert min(middle) > 240
    assert levels(np.array([-2.0, 0.0, 1.0, 5.0]), 0.0, 1.0).tolist() == [0, 0, 255, 255]
    assert levels(np.zeros(2), 0.0, 0.0).tolist() == [0, 0]


def test_images_are_recognised_by_their_names_or_by_their_pixels() -> None:
    digits = load_digits()
    plain = [f"x{j}" for j in range(64)]
    assert guess_image(digits.data, digits.feature_names) == (8, 8)
    assert guess_image(digits.data, plain) == (8, 8)
    tall = [f"p_{y}_{x}" for y in range(8) for x in range(6)]
    assert guess_image(np.zeros((3, 48)), tall) == (8, 6)


def test_other_rows_are_no_images() -> None:
    cancer = load_breast_cancer()
    assert guess_image(cancer.data[:, :25], [f"x{j}" for j in range(25)]) is None
    rng = np.random.RandomState(0)
    assert guess_image(rng.randn(100, 64), [f"x{j}" for j in range(64)]) is None
    assert guess_image(np.zeros((100, 64)), [f"x{j}" for j in range(64)]) is None
    assert guess_image(rng.randn(100, 30), [f"t_{j}_{j}" for j in range(30)]) is None
