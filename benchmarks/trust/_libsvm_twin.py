"""How LIBSVM itself predicts from its text (svm.cpp, svm_predict_values), loop by loop, to compare readers with."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparsegen.model import SparseModel

CLEAR = 1e-6  # of a pair's sum of absolute terms; what is smaller may be rounding
MOST_VECTORS = 4
FACTORS = (1.0, 0.5, -1.0, 0.0)
Row = dict[int, float]


def check_votes(model: SparseModel, raw: bytes) -> None:
    """Raise an error where a model labels rows beside its vectors differently from LIBSVM, and that not by rounding."""
    head, body = (part.decode() for part in raw.replace(b"\r\n", b"\n").split(b"\nSV\n", 1))
    header = {words[0]: words[1:] for line in head.split("\n") if (words := line.split())}
    labels = header["label"]
    lines = [line.split() for line in body.strip("\n").split("\n") if line.strip()]
    coef = [[float(word) for word in words[: len(labels) - 1]] for words in lines]
    rows = [{int(i): float(v) for i, v in (w.split(":") for w in words[len(labels) - 1 :])} for words in lines]
    kernel = _kernel(header)
    for row, vector in list(zip(rows, model.vectors, strict=True))[:MOST_VECTORS]:
        for factor in FACTORS:
            wanted = _label({i: factor * v for i, v in row.items()}, rows, coef, header, kernel)
            if wanted is not None:
                with np.errstate(all="ignore"):
                    found = model.predict(factor * vector[None])[0]
                assert int(found) == int(labels[wanted]), f"a row is labelled {found}, but LIBSVM says {labels[wanted]}"


def _label(
    x: Row, rows: list[Row], coef: list[list[float]], header: dict[str, list[str]], kernel: Callable[[Row, Row], float]
) -> int | None:
    """Return the index of the label that wins; ``None`` where rounding decides a pair."""
    counts, rho = [int(n) for n in header["nr_sv"]], [float(r) for r in header["rho"]]
    starts = [sum(counts[:i]) for i in range(len(counts))]
    try:
        values = [kernel(x, row) for row in rows]
    except OverflowError:
        return None
    votes, pair = [0] * len(counts), 0
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            terms = [coef[u][j - 1] * values[u] for u in range(starts[i], starts[i] + counts[i])]
            terms += [coef[u][i] * values[u] for u in range(starts[j], starts[j] + counts[j])]
            terms.append(-rho[pair])
            total = sum(terms)
            if not abs(total) > CLEAR * sum(map(abs, terms)):  # also where one is not finite
                return None
            votes[i if total > 0.0 else j] += 1
            pair += 1
    return votes.index(max(votes))


def _kernel(header: dict[str, list[str]]) -> Callable[[Row, Row], float]:
    def dot(x: Row, z: Row) -> float:
        return sum(value * z.get(i, 0.0) for i, value in x.items())

    name = header["kernel_type"][0]
    if name == "linear":
        return dot
    gamma = float(header["gamma"][0])
    if name == "rbf":
        return lambda x, z: math.exp(-gamma * sum((x.get(i, 0.0) - z.get(i, 0.0)) ** 2 for i in x.keys() | z.keys()))
    assert name in ("polynomial", "poly"), name
    coef0, degree = float(header["coef0"][0]), int(float(header["degree"][0]))
    return lambda x, z: (gamma * dot(x, z) + coef0) ** degree
