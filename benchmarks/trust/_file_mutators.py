"""Seeds and mutations of the files that sparsegen reads: each knows the structure of its format, and breaks it too."""

from __future__ import annotations

import ast
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from sparsegen.kernels import KERNELS
from sparsegen.model import Calibration, SparseModel, Transform
from sparsegen.model.file import ARRAYS, decode, encode

NUMBERS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 2.2e-308, 1e-40, 1e38, 3.5e38, 1e154, 1e160, 1e200, 1e300, -1e308, 1.7e308,
    float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
INTEGERS = (0, 1, 2, -1, 255, 256, 2**31, 2**53 + 1, 2**63, -(2**63), 2**64, 10**400)
TEXTS = (
    "", " ", "a", "0", "1", "label", "\x1b[31m", "\x00", "\n", "\r", "\t", "*/ int x; /*", "//", "\\", "??/", '"', "%s",
    "\u202e", "\u2028", "\x85", "\ud800", "\u0661", "é", "\U0001f600", "x" * 201, "rbf", "linear", "poly", "platt",
    "classification", "x0", "None", "inf", "{{ 7 }}",
)  # fmt: skip
CELLS = (
    b",", b";", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b" ", b"\x00", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff", b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"1_0", b"0x10",
    b"\xd9\xa1", b"1,5", b"1.5", b"-0", b"9223372036854775808", b"9007199254740993", b"1e18", b"1e300", b"a", b"b",
    b"label", b"x0", b"x1", b"#", b"\x1b[31m", b"1" * 400, b"1" * 5000, b"z" * 201, b"=1+1", b"True",
)  # fmt: skip
PAIRS = (
    b" 0:1", b" 1:1", b" 2:0.5", b" 3:-1", b" 7:1e300", b" 300:1", b" 1000001:1", b" 999999999:1",
    b" 2147483648:1", b" 99999999999999999999:1", b" -1:1", b" 1:nan", b" 1:inf", b" 1:1e999", b" 1:", b" :1",
    b" 1:1:1", b" 1.5:1", b" +1:1", b" qid:1", b" qid:x", b" qid:1 1:1", b" # words", b"#", b"\n", b"\r\n", b"\n\n",
    b"\r", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85", b" ", b"\t", b"0", b"1", b"-1", b"1.5", b"1,2", b"1,2 1:1",
    b"nan", b"1e999", b"x", b"0x1", b"1_0", b"\xd9\xa1:1", b"9" * 5000,
)  # fmt: skip
DESCRIPTIONS = (
    "<f8", ">f8", "<f4", "<f2", "<i8", "|i1", "|u1", "<u8", "|b1", "<U1", "<U5", "|S3", "|S0", "<U0", "|V8", "|O",
    "<c16", "<M8[s]", "<m8", "<f16", "x", "",
)  # fmt: skip
MEMBERS = (
    "X.npy",
    "y.npy",
    "X_train.npy",
    "y_train.npy",
    "X_test.npy",
    "y_test.npy",
    "feature_names.npy",
    "X",
    "x\x1b.npy",
)

# ---- Bytes -----------------------------------------------------------------------------------------------------------


def mutate_bytes(rng: random.Random, data: bytes, other: bytes, tokens: Sequence[bytes] = ()) -> bytes:
    """Flip, insert, remove or repeat some bytes, insert a token, or splice with another input."""
    at = rng.randrange(len(data) + 1)
    length = min(len(data) - at, 1 << rng.randrange(7))
    head, middle, tail = data[:at], data[at : at + length], data[at + length :]
    kind = rng.randrange(8 if tokens else 6)
    if kind == 0 and data:
        bits = bytearray(data)
        bits[at % len(data)] ^= 1 << rng.randrange(8)
        return bytes(bits)
    if kind == 1:
        return head + tail
    if kind == 2:
        return head + middle * rng.choice((2, 2, 3, 10, 100)) + tail
    if kind == 3:
        return head + rng.randbytes(rng.choice((1, 1, 2, 4, 8))) + tail
    if kind == 4:
        start = rng.randrange(len(other) + 1)
        return head + other[start : start + (1 << rng.randrange(10))] + tail
    if not tokens or kind == 5:
        return head
    return head + rng.choice(tokens) + (tail if kind == 6 else middle + tail)


def mutate_lines(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Insert a line of another input, repeat, remove or exchange lines."""
    lines, more = data.split(b"\n"), other.split(b"\n")
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines.insert(at, rng.choice(more))
    elif kind == 1:
        lines[at:at] = [rng.choice(lines)] * rng.choice((1, 1, 10, 200))
    elif kind == 2:
        del lines[at]
    else:
        lines[at], lines[-1] = lines[-1], lines[at]
    return b"\n".join(lines)


# ---- Tables and LIBSVM text ------------------------------------------------------------------------------------------


def csv_seeds() -> list[bytes]:
    """Return small tables of every dialect, and some that are refused."""
    rows = "".join(f"{i / 8},{i * i - 9},{'ab'[i % 2]}\n" for i in range(8))
    texts = [
        f"width,height,label\n{rows}",
        f"width,height,label\n{rows}".replace(",", ";"),
        f"width,height,label\n{rows}".replace(",", "\t"),
        f"width,height,label\n{rows}".replace("\n", "\r\n"),
        f"\ufeff{rows}",
        'x0,x1,y\n1,2,"a, ""b"""\n3,4,c\n',
        "x0,x1\n1,2\n3,4\n",
        "x1,x0,label\n1e3,-.5,1\n2E-2,+4.,0\n",
        "a,b,c\n1,2,\n3,4,\n",
        "0,1,2,label\n1,2,3,0\n4,5,6,1\n",
        "1,2,3\n4,5,6\n",
        "a\n1\n",
        "a,b,label\n1,nan,x\n1,2,y\n",
        "a,a,label\n1,2,x\n",
        "a,b,label\n1,2\n",
        'a,b,label\n1,"2,x\n',
    ]
    return [text.encode() for text in texts]


def mutate_csv(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change cells, lines or bytes of a table."""
    if rng.random() < 0.3:
        return mutate_lines(rng, data, other)
    if rng.random() < 0.4:
        separator = rng.choice((b",", b",", b";", b"\t"))
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        cells = lines[at].split(separator)
        cells[rng.randrange(len(cells))] = rng.choice(CELLS)
        lines[at] = separator.join(cells)
        return b"\n".join(lines)
    return mutate_bytes(rng, data, other, CELLS)


def libsvm_seeds() -> list[bytes]:
    """Return rows counted from 0 and from 1, with comments and query numbers, and some that are refused."""
    return [
        b"1 1:0.5 3:2\n-1 2:1\n1 1:1 2:2 3:3\n",
        b"0 0:1 1:2\n1 1:-1\n2 0:1e3\n",
        b"# rows\n\n3 qid:1 1:2 # words\n4 qid:2 2:1\n",
        b"1\n2 1:1\n",
        b"1.5 1:1\n2.5 2:1\n",
        b"1 2:1 1:1\n",
        b"a 1:1\n",
        b"1,2 1:1\n",
        b"1 300:1\n",
    ]


def mutate_libsvm(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change pairs, lines or bytes."""
    return mutate_lines(rng, data, other) if rng.random() < 0.3 else mutate_bytes(rng, data, other, PAIRS)


# ---- Archives --------------------------------------------------------------------------------------------------------


def npz_seeds() -> list[bytes]:
    """Return archives of every kind of array, compressed or not, and some that are refused."""
    X, y = np.arange(6.0).reshape(3, 2) / 4.0, np.array([0, 1, 1])
    names = np.array(["width", "height"])
    return [
        _saved(X=X, y=y),
        _saved(X=X.astype(">f4"), y=np.array(["a", "b", "é"])),
        _saved(compressed=True, X=X, y=y, feature_names=names),
        _saved(X_train=X, y_train=y, X_test=np.asfortranarray(X[:2]), y_test=y[:2]),
        _saved(X=X > 0.5, y=np.array([b"a", b"b", b"c"])),
        _saved(X=X.astype(np.float16), y=y.astype(np.float64)[:, None]),
        _saved(X=X.astype(np.int8), y=y.astype(np.uint64)),
        _saved(X=X),
        _saved(X=X, y=np.array([1.5, np.nan, 0.0])),
        _saved(X=X.ravel(), y=y),
        _saved(X=np.array([[1j]]), y=np.array([0])),
    ]


def _saved(*, compressed: bool = False, **arrays: Any) -> bytes:
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)
    return buffer.getvalue()


def mutate_npz(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change the header of an array, its bytes, the names of members, or the bytes of the archive."""
    members = _members(data)
    if not members or rng.random() < 0.3:
        return mutate_bytes(rng, data, other)
    kind = rng.randrange(6)
    at = rng.randrange(len(members))
    name, content = members[at]
    if kind <= 1:
        members[at] = name, _mutate_npy(rng, content)
    elif kind == 2:
        members[at] = rng.choice(MEMBERS), content
    elif kind == 3:
        members += [(rng.choice(MEMBERS), content) for name, content in (_members(other) or members)]
    elif kind == 4:
        members[at] = name, mutate_bytes(rng, content, other)
    else:
        del members[at]
    buffer = io.BytesIO()
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with suppress(ValueError, UserWarning), zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, content in dict(members).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """Return the members of an archive, as far as a damaged one has any."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(info.filename, archive.read(info)) for info in archive.infolist() if info.file_size < 1 << 20]
    except Exception:  # zipfile and zlib raise a dozen types on damaged bytes
        return []


def _mutate_npy(rng: random.Random, content: bytes) -> bytes:
    """Change the header of an array, and pad its bytes where the new shape needs more."""
    length = int.from_bytes(content[8:10], "little")
    try:
        header = ast.literal_eval(content[10 : 10 + length].decode("latin-1"))
        shape = list(header["shape"])
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        return mutate_bytes(rng, content, content)
    kind = rng.randrange(5)
    if kind == 0:
        header["descr"] = rng.choice(DESCRIPTIONS) if rng.random() < 0.8 else [("f", rng.choice(DESCRIPTIONS))]
    elif kind == 1 and shape:
        shape[rng.randrange(len(shape))] = rng.choice((0, 1, 2, 3, 5, 1000, 1 << 20, -1, 1 << 40, 1 << 63, 1 << 70))
    elif kind == 2:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice((0, 1, 2)))
    elif kind == 3 and shape:
        del shape[rng.randrange(len(shape))]
    else:
        header["fortran_order"] = rng.choice((True, False, 1, None))
    header["shape"] = tuple(shape)
    text = repr(header).encode() + b"\n"
    body = content[10 + length :]
    with suppress(KeyError, TypeError, ValueError, SyntaxError, OverflowError):
        needed = int(np.prod(shape, dtype=np.float64)) * np.dtype(header["descr"]).itemsize
        if 0 <= needed < 1 << 24 and rng.random() < 0.8:
            body = (body * (1 + needed // max(1, len(body))))[:needed]
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


# ---- Models ----------------------------------------------------------------------------------------------------------


def model_seeds() -> list[bytes]:
    """Return a file of every kernel, with a projection or not, two classes or three, and every part of a card."""
    rng = np.random.default_rng(0)
    seeds = []
    for i, kernel in enumerate(KERNELS.values()):
        d, p, n_classes = 3, (2 if i % 2 else 3), 2 + i % 3
        n_outputs = 1 if n_classes == 2 else n_classes
        classes = tuple(range(n_classes)) if i % 2 else tuple(f"class {c}" for c in range(n_classes))
        transform = Transform(rng.normal(size=d), 0.5 + rng.random(d), rng.normal(size=(p, d)) if p < d else None)
        card = {
            "method": "slmc",
            "accuracy": 0.9,
            "test_rows": 20,
            "feature_names": ["width", "height", "depth"],
            "ranges": {"low": [-1.0, -2.0, -3.0], "high": [1.0, 2.0, 3.0]},
            "parameters": {"C": 10.0, "n_vectors": 4},
        }
        calibration = Calibration("platt", 1.0, -0.1) if n_outputs == 1 else Calibration("temperature", 1.0)
        model = SparseModel(
            rng.normal(size=(4, p)), rng.normal(size=(n_outputs, 1, 4)), rng.normal(size=n_outputs), (kernel.bind(),),
            transform, classes, calibration=None if i % 4 == 3 else calibration, card=card,
        )  # fmt: skip
        seeds.append(model.to_bytes())
    return seeds


def mutate_model(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change arrays or the document and encode them again, or change the header or the bytes of the file."""
    kind = rng.random()
    if kind < 0.2:
        return mutate_bytes(rng, data, other)
    if kind < 0.4:
        return _mutate_header(rng, data, other)
    try:
        arrays, document = decode(data)
    except ValueError:  # damaged already
        return mutate_bytes(rng, data, other)
    if rng.random() < 0.5:
        arrays = _mutate_arrays(rng, dict(arrays))
    else:
        document = mutate_json(rng, document)
    with suppress(Exception):  # what the encoder refuses is no file
        return encode(arrays, document)
    return data


def _mutate_header(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change the JSON header of safetensors, as a value or as text, and keep its length right most of the time."""
    length = int.from_bytes(data[:8], "little")
    text, body = data[8 : 8 + length], data[8 + length :]
    if rng.random() < 0.5:
        text = mutate_bytes(
            rng, text, other, [json.dumps(t).encode() for t in TEXTS] + [b"NaN", b"9" * 5000, b"[" * 2000]
        )
    else:
        with suppress(ValueError, RecursionError):
            text = json.dumps(mutate_json(rng, json.loads(text))).encode()
    size = len(text) if rng.random() < 0.9 else rng.choice((0, 1, len(text) + 1, 1 << 31, (1 << 64) - 1))
    return size.to_bytes(8, "little", signed=False) + text + body


def _mutate_arrays(rng: random.Random, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays with one value, type, shape or name changed."""
    name = rng.choice(list(arrays) or list(ARRAYS))
    array = np.array(arrays.get(name, np.zeros(1)))
    kind = rng.randrange(7)
    if kind <= 2 and array.size:
        flat = array.ravel()
        many = slice(None) if kind == 0 and rng.random() < 0.3 else rng.randrange(array.size)
        flat[many] = rng.choice(NUMBERS) if rng.random() < 0.7 else flat[many] * 10.0 ** rng.randrange(-40, 40)
        arrays[name] = flat.reshape(array.shape)
    elif kind == 3:
        arrays[name] = array.astype(rng.choice(("f4", "i8", "u1", "?")))
    elif kind == 4:
        arrays.pop(name, None)
    elif kind == 5:
        arrays[rng.choice((*ARRAYS, "more", "\x1b"))] = array
    elif array.ndim:
        axis = rng.randrange(array.ndim)
        arrays[name] = rng.choice(
            (
                np.repeat(array, 2, axis),
                np.take(array, [0] if array.shape[axis] else [], axis),
                array[None],
                array.ravel(),
            )
        )
    return arrays


def mutate_json(rng: random.Random, document: Any) -> Any:
    """Return a document with one value, key or item changed."""
    copy = json.loads(json.dumps(document))
    places: list[tuple[Any, Any]] = []
    _walk(copy, places)
    if not places:
        return _value(rng)
    holder, key = rng.choice(places)
    kind = rng.randrange(5)
    if kind <= 1:
        holder[key] = _value(rng)
    elif kind == 2:
        del holder[key]
    elif kind == 3 and isinstance(holder, dict):
        holder[rng.choice((*TEXTS, "name", "params", "gamma", "degree", "coef0", "low", "high", "accuracy"))] = holder[
            key
        ]
    else:
        holder[key] = [holder[key]] if rng.random() < 0.5 else {"a": holder[key]}
    return copy


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    keys: Sequence[Any] = (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        places.append((value, key))
        _walk(value[key], places)


def _value(rng: random.Random) -> Any:
    makers: tuple[Callable[[], Any], ...] = (
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(INTEGERS),
        lambda: rng.choice(TEXTS),
        lambda: rng.choice((None, True, False, [], {}, [[]], [1], {"a": 1})),
        lambda: [rng.choice(NUMBERS[:16]) for _ in range(3)],
        lambda: json.loads("[" * 30 + "]" * 30),
    )
    return rng.choice(makers)()
