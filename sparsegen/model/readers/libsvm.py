"""LIBSVM's model files, as ``svm-train`` writes them: a header of words, then ``coefficients index:value ...``."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import MAX_FEATURES, is_finite, short
from sparsegen.data.memory import check_memory
from sparsegen.errors import ModelError
from sparsegen.model.decision import MAX_VOTING_CLASSES
from sparsegen.model.one_vs_one import libsvm_kernel, libsvm_model
from sparsegen.model.readers import MODEL_READERS, ModelReader
from sparsegen.model.sparse_model import SparseModel

BEGINNING = b"svm_type "
CLASSIFIERS = ("c_svc", "nu_svc")
KERNEL_NAMES = {"polynomial": "poly"}
"""What the file calls differently from LIBSVM's options."""
PARAMETERS = ("gamma", "coef0", "degree")
MAX_EXPANSION = 1000  # bytes of dense vectors per byte of text
ALWAYS_ALLOWED = 64 << 20


def read(content: bytes, source: str, n_features: int | None) -> SparseModel:
    """Return the model; features that it never names are 0 in all of its vectors."""
    head, separator, body = content.replace(b"\r\n", b"\n").partition(b"\nSV\n")
    if not separator:
        raise ModelError(f"{source} has no line SV, after which the support vectors stand; write the file anew")
    header = _header(head, source)
    kind = _words(header, "svm_type", source)[0]
    if kind not in CLASSIFIERS:
        raise ModelError(f"{source} holds a {kind!r:.40}, which is no classifier; train with svm-train -s 0 or -s 1")
    classes = [_whole(text, "label", source) for text in _words(header, "label", source)]
    n_support = np.array([_whole(text, "nr_sv", source) for text in _words(header, "nr_sv", source)])
    k = len(classes)
    if not 2 <= k <= MAX_VOTING_CLASSES or len(n_support) != k or np.any(n_support < 0):
        raise ModelError(
            f"{source} has {k} labels and {len(n_support)} counts nr_sv; 2 to {MAX_VOTING_CLASSES} of each"
        )
    rho = _numbers(header, "rho", source)
    lines = body.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if len(rho) != k * (k - 1) // 2 or len(lines) != n_support.sum() or not lines:
        raise ModelError(f"{source} has not as many support vectors, or rho, as its header says; copy it again")
    coef, vectors = _vectors(lines, k - 1, n_features, source)
    name = _words(header, "kernel_type", source)[0]
    values = {key: float(_numbers(header, key, source)[0]) for key in PARAMETERS if key in header}
    kernel = libsvm_kernel(KERNEL_NAMES.get(name, name), source, **values)
    return libsvm_model(vectors, coef.T, -rho, n_support, kernel, classes, card={"method": f"LIBSVM {kind}"})


def _header(head: bytes, source: str) -> dict[str, list[str]]:
    """Return the words after each keyword."""
    try:
        lines = [line.split() for line in head.decode("ascii").split("\n") if line.strip()]
    except UnicodeDecodeError:
        raise ModelError(f"the header of {source} is not plain text; it is no model of LIBSVM") from None
    header = {words[0]: words[1:] for words in lines}
    if len(header) != len(lines):
        raise ModelError(f"the header of {source} says something twice; copy it again")
    return header


def _words(header: Mapping[str, list[str]], key: str, source: str) -> list[str]:
    if not header.get(key):
        raise ModelError(f"the header of {source} does not say {key}; copy it again")
    return header[key]


def _numbers(header: Mapping[str, list[str]], key: str, source: str) -> Array:
    words = _words(header, key, source)
    for word in words:
        if not is_finite(word):
            raise ModelError(f"{key} of {source} is {short(word)}, not a finite number; copy it again")
    return np.array([float(word) for word in words])


def _whole(text: str, key: str, source: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        raise ModelError(f"{key} of {source} is {short(text)}, not a whole number; copy it again")
    return int(text)


def _vectors(lines: list[bytes], n_coef: int, n_features: int | None, source: str) -> tuple[Array, Array]:
    """Return the coefficients, (n_vectors, n_coef), and the dense vectors."""
    coef = np.empty((len(lines), n_coef))
    places: list[tuple[int, int, float]] = []
    for u, line in enumerate(lines):
        words = line.decode("ascii", "replace").split()
        where = f"support vector {u + 1} of {source}"
        if len(words) < n_coef or not all(is_finite(word) for word in words[:n_coef]):
            raise ModelError(f"{where} does not begin with {n_coef} finite numbers; copy the file again")
        coef[u] = [float(word) for word in words[:n_coef]]
        for pair in words[n_coef:]:
            index, _, value = pair.partition(":")
            if not re.fullmatch(r"\d{1,6}", index, re.ASCII) or not is_finite(value) or int(index) > MAX_FEATURES:
                raise ModelError(f"{where} has {short(pair)}, not index:value with an index up to {MAX_FEATURES:,}")
            places.append((u, int(index), float(value)))
    base = int(all(index > 0 for _, index, _ in places))  # LIBSVM counts from 1, but takes a 0 as well
    width = max([n_features or 1, *(index - base + 1 for _, index, _ in places)])
    n_bytes = 8 * width * len(lines)
    if n_bytes > max(ALWAYS_ALLOWED, MAX_EXPANSION * sum(map(len, lines))):
        raise ModelError(f"{source} is almost all zeros: {len(lines):,} vectors of {width:,} features; renumber them")
    check_memory(n_bytes, source)
    vectors = np.zeros((len(lines), width))
    for u, j, entry in places:
        vectors[u, j - base] = entry
    return coef, vectors


MODEL_READERS.register("libsvm")(
    ModelReader("LIBSVM's text", lambda content, suffix: content.startswith(BEGINNING), read)
)
