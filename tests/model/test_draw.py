"""Expansion vectors as pictures."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from golden_models import model, rbf

from sparsegen.errors import OptionError, ToolError
from sparsegen.model.draw import as_text, vector_images, write_png

MODEL = model([rbf()], 5, 12, (0, 1), offset=np.full(12, 8.0), scale=np.full(12, 0.25))


def test_images_are_stretched_raw_vectors():
    images = vector_images(MODEL, (3, 4))
    assert images.shape == (5, 3, 4)
    assert np.allclose(images.min(axis=(1, 2)), 0)
    assert np.allclose(images.max(axis=(1, 2)), 1)
    assert np.argmax(images[0]) == np.argmax(MODEL.vectors[0])
    small = replace(MODEL, transform=replace(MODEL.transform, scale=np.full(12, 1e3)))
    assert np.allclose(vector_images(small, (3, 4)), images)


def test_a_flat_vector_is_blank():
    flat = replace(MODEL, vectors=np.full((5, 12), 0.5))
    assert np.array_equal(vector_images(flat, (3, 4)), np.zeros((5, 3, 4)))


def test_projected_vectors_are_drawn_as_raw_images():
    assert vector_images(model([rbf()], 3, 12, (0, 1), projected=4), (3, 4)).shape == (3, 3, 4)


def test_a_wrong_number_of_pixels_is_one_sentence():
    with pytest.raises(OptionError, match="an image of 4x4 has 16 pixels, but the model has 12 features; choose"):
        vector_images(MODEL, (4, 4))


def test_text():
    images = np.array([[[0.0, 1.0], [0.5, 0.3]], [[1.0, 1.0], [0.0, 0.0]]])
    assert as_text(images, 80) == "  ██  ████\n▒▒░░      \n"
    assert as_text(images, 5).count("\n") == 5
    assert as_text(images, 0) == as_text(images, 4), "an image wider than the terminal is still drawn"
    assert all(len(line) <= 10 for line in as_text(images, 10).splitlines())
    assert as_text(images, 10) == as_text(images, 80), "two images and the gap between them are 10 wide"
    assert as_text(images, 9) == as_text(images, 4)


def test_png(tmp_path):
    pytest.importorskip("matplotlib")
    for n, size in ((1, (100, 100)), (11, (1000, 200))):  # ten to a row, 100 pixels each
        path = tmp_path / f"{n}.png"
        write_png(np.linspace(0, 1, n * 12).reshape(n, 3, 4), path)
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        assert struct.unpack(">II", content[16:24]) == size


def test_png_shows_every_image_dark_where_it_is_large(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    write_png(np.array([[[0.0, 1.0]], [[1.0, 0.0]], [[0.0, 1.0]]]), tmp_path / "a.png")
    picture = image.imread(tmp_path / "a.png")
    assert picture.shape[:2] == (100, 300)
    brightness = picture[50, :, 0]
    left, right = brightness[[25, 125, 225]], brightness[[75, 175, 275]]
    assert np.array_equal(left, [1.0, 0.0, 1.0])
    assert np.array_equal(right, [0.0, 1.0, 0.0])


def test_png_has_ten_images_to_a_row(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    write_png(np.zeros((10, 1, 1)), tmp_path / "a.png")
    assert image.imread(tmp_path / "a.png").shape[:2] == (100, 1000)


def test_png_without_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ToolError, match=r"pip install 'sparsegen\[plot\]'"):
        write_png(np.zeros((1, 2, 2)), tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_a_file_of_the_users_is_kept_unless_forced(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "mine.png"
    path.write_bytes(b"a photograph")
    with pytest.raises(OptionError, match=r"mine\.png"):
        write_png(np.zeros((1, 2, 2)), path)
    assert path.read_bytes() == b"a photograph"
    write_png(np.zeros((1, 2, 2)), path, force=True)
    write_png(np.ones((1, 2, 2)), path)  # sparsegen drew it
    assert path.read_bytes().startswith(b"\x89PNG")
