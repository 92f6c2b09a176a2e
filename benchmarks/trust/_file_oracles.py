"""What must hold for every file that sparsegen reads, whatever its bytes are.

A file gives a model or rows that can be used, or a SparsegenError of one printable line. Nothing else is ever raised.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.trust._libsvm_twin import check_votes
from sparsegen import data
from sparsegen.cli.inspect import print_model
from sparsegen.data import Dataset
from sparsegen.errors import SparsegenError
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.model.readers import read_model
from sparsegen.model.readers.libsvm import BEGINNING as LIBSVM_BEGINNING
from sparsegen.targets import TARGETS

Result = TypeVar("Result")

MAX_MESSAGE = 600  # characters
COMPILED_SHARE = 64  # one of so many exports is compiled
MAX_WRITTEN = 5000  # values of a data set that is written and read again; more would only take time
_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_CONSTANT = re.compile(r"^    (FUZZED_CLASS_[A-Z0-9_]{1,40})(?= = \d+,? ?$)", re.MULTILINE)  # made from a label
_EXPORT_ID = re.compile(r"(?<=FUZZED_EXPORT )(!= )?0x[0-9a-f]{8}u\b")  # a hash of the whole export, card included


def usable(make: Callable[[], Result]) -> Result | None:
    """Return what a call gives, or ``None`` where it refuses with one printable line."""
    try:
        with np.errstate(all="ignore"):
            return make()
    except SparsegenError as error:
        message = str(error)
        assert message and message.isprintable(), f"an error message is not one printable line: {message!r}"
        assert len(message) <= MAX_MESSAGE, f"an error message has {len(message)} characters: {message[:80]!r}"
        return None


# ---- Models ----------------------------------------------------------------------------------------------------------


def check_model(raw: bytes) -> None:
    """Load a model; what loads can be saved, shown, scored and exported, or is refused with a sentence."""
    model = usable(lambda: SparseModel.from_bytes(raw))
    if model is not None:
        _check_used(model, zlib.crc32(raw))


def check_libsvm_model(raw: bytes) -> None:
    """Read a model of LIBSVM; what can be read decides as LIBSVM says, and can be used as any model."""
    model = _check_foreign(raw, ".model")
    if model is not None and raw.startswith(LIBSVM_BEGINNING):
        check_votes(model, raw)


def check_onnx_svm(raw: bytes) -> None:
    """Read the machine in an ONNX graph; what can be read can be used as any model."""
    _check_foreign(raw, ".onnx")


def _check_foreign(raw: bytes, suffix: str) -> SparseModel | None:
    """Return the model in a file of another format, once it is known that it can be used, if it is a small one."""
    with _file(raw, suffix) as path:
        model = usable(lambda: read_model(path))
        wider = None if model is None else usable(partial(read_model, path, model.n_features + 1))
    if model is None or wider is None:
        assert model is None, "more features make a file unusable"
        return None
    assert wider.n_features - model.n_features in (0, 1), "a model has another width than was asked for"
    if model.vectors.size > MAX_WRITTEN:  # sparse text may stand for a table that only takes time
        return None
    _check_used(model, zlib.crc32(raw))
    return model


def _check_used(model: SparseModel, draw: int) -> None:
    again = SparseModel.from_bytes(model.to_bytes())
    assert again == model and again.to_bytes() == model.to_bytes(), "a model changes when it is saved and loaded"
    _check_shown(model)
    usable(lambda: model.predict(np.stack([model.transform.offset, np.ones(model.n_features)])))
    if model.calibration is not None:
        usable(lambda: model.probabilities(model.transform.offset[None]))
    _check_exports(model, draw)


def _check_shown(model: SparseModel) -> None:
    for as_json in (False, True):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), np.errstate(all="ignore"):
            print_model(model, None, as_json, everything=True)
        text = shown.getvalue()
        text.encode()  # a lone surrogate could not be printed
        assert text.replace("\n", "").isprintable(), "a card reaches the terminal with control characters"


def _check_exports(model: SparseModel, draw: int) -> None:
    export = usable(lambda: TARGETS["c"].export(model, "fuzzed"))
    if export is not None:
        code = [_code(content) for content in export.files.values()]
        plain = replace(model, classes=tuple(f"class {i}" for i in range(len(model.classes))), card={})
        harmless = TARGETS["c"].export(plain, "fuzzed")
        assert code == [_code(content) for content in harmless.files.values()], "labels or card change the C"
        if draw % COMPILED_SHARE == 0:
            _compile(dict(export.files))
    integers = usable(lambda: TARGETS["c"].export(model, "fuzzed", Format("q7")))
    if integers is not None:
        for content in integers.files.values():
            _code(content)
        if draw % COMPILED_SHARE == 1:
            _compile(dict(integers.files))


def _code(content: bytes) -> str:
    """Return C without its comments and strings, once it is known to be plain ASCII lines."""
    text = content.decode("ascii")
    assert text.replace("\n", "").isprintable(), "the C holds control characters"
    read = _COMMENT_OR_STRING.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
    assert "??" not in read and "??/" not in text, "the C holds a trigraph"  # of a comment, only ??/ can end its line
    code = _EXPORT_ID.sub("", _COMMENT_OR_STRING.sub("", text))
    assert "*/" not in code and "/*" not in code, "a comment of the C ends early or never"
    constants = _CONSTANT.findall(code)
    assert len(set(constants)) == len(constants), "two classes have one name"
    return _CONSTANT.sub("", code)


def _compile(files: dict[str, bytes]) -> None:
    compiler = shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        command = [compiler, "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "fuzzed.c"]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"the C does not compile: {built.stderr[:200]}"


# ---- Data ------------------------------------------------------------------------------------------------------------


CSV_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"label": 0},
    {"label": "label"},
    {"missing": "mean"},
    {"missing": "drop", "group": 0},
    {"drop": (0,)},
)
"""What a caller may want of a table."""


def check_csv(raw: bytes) -> None:
    """Read a table in every way; what was read, written as a plain table, reads the same."""
    with _file(raw, ".csv") as path:
        for how in CSV_OPTIONS:
            dataset = _read(path, **how)
            if dataset is not None and how.get("missing") != "drop":  # labels may be all numbers once rows are dropped
                _check_written_again(dataset)
        _read_for_a_model(path)


def check_libsvm(raw: bytes) -> None:
    """Read rows as LIBSVM text, and as a text file that is told by its bytes."""
    for suffix in (".libsvm", ".txt"):
        with _file(raw, suffix) as path:
            dataset = _read(path)
            if dataset is not None:
                _check_written_again(dataset)
            _read_for_a_model(path)


def check_npz(raw: bytes) -> None:
    """Read either part of an archive."""
    with _file(raw, ".npz") as path:
        _read(path)
        _read(path, part="test")
        _read_for_a_model(path)


@contextlib.contextmanager
def _file(raw: bytes, suffix: str) -> Any:
    shared = Path("/dev/shm")  # noqa: S108 - memory, where there is some, spares the disk
    with tempfile.NamedTemporaryFile(suffix=suffix, dir=shared if shared.is_dir() else None) as file:
        file.write(raw)
        file.flush()
        yield Path(file.name)


def _read(path: Path, **how: Any) -> Dataset | None:
    dataset = usable(lambda: data.read(path, **how))
    if dataset is not None:
        X, y = dataset.X, dataset.y
        assert X.dtype == np.float64 and X.ndim == 2 and X.size and np.isfinite(X).all() and not X.flags.writeable
        assert y.shape == (len(X),) and y.dtype.kind in "iU" and not y.flags.writeable, f"labels are {y.dtype}"
        assert len(dataset.feature_names) == X.shape[1] == len(set(dataset.feature_names)), "names do not fit"
        texts = [*dataset.feature_names, *map(str, np.unique(y).tolist())]
        assert all(text.strip() and text.isprintable() for text in texts), "a name or label cannot be printed"
    return dataset


def _read_for_a_model(path: Path) -> None:
    for names in (("x0", "x1"), ("height", "width"), ()):
        rows = usable(partial(data.read_features, path, names, n_features=2))
        if rows is not None:
            X, y = rows
            assert X.shape[1] == 2 and len(X) and np.isfinite(X).all(), "rows do not fit the model"
            assert y is None or y.shape == (len(X),), "labels do not fit the rows"


def _check_written_again(dataset: Dataset) -> None:
    """Write rows as a plain table and read that: the values, names and labels are the same."""
    if dataset.X.size > MAX_WRITTEN:
        return
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    label = next(name for name in ("label", "class", "kind") if name not in dataset.feature_names)
    writer.writerow([*dataset.feature_names, label])
    writer.writerows([*map(repr, row), y] for row, y in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True))
    with _file(text.getvalue().encode(), ".csv") as path:
        again = data.read(path)
    assert again.sha256 == dataset.sha256, "rows change when they are written as a table and read again"
