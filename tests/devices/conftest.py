"""Two hand-written C models and their NumPy twins; dyadic inputs make float32 exact in any order, FMA or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.targets import Export

HEADER = b"""
#ifdef __cplusplus
extern "C" {
#endif
void m_scores(const float *x, float *scores);
int m_predict(const float *x);
#ifdef __cplusplus
}
#endif
"""

BINARY = """
static const float m_weight[3] = {0.5f, -1.25f, 2.0f};
void m_scores(const float *x, float *scores)
{
    float s = 0.25f;
    int j;
    for (j = 0; j < 3; j++) {
        float v = x[j] < 0.0f ? -x[j] : x[j];
        s += m_weight[j] * v * x[j];
    }
    scores[0] = s;
}
int m_predict(const float *x)
{
    float s;
    m_scores(x, &s);
    return s > 0.0f;
}
"""

MULTI = """
static const float m_weight[3][4] = {{1.0f, 0.5f, -0.25f, 2.0f}, {1.0f, -0.5f, 0.75f, 1.0f}, {-2.0f, 0.5f, 0.0f, 1.5f}};
static const float m_bias[3] = {0.5f, 0.5f, -1.0f};
void m_scores(const float *x, float *scores)
{
    int i, j;
    for (i = 0; i < 3; i++) {
        scores[i] = m_bias[i];
        for (j = 0; j < 4; j++) { scores[i] += m_weight[i][j] * x[j]; }
    }
}
int m_predict(const float *x)
{
    float s[3];
    int i, best = 0;
    m_scores(x, s);
    for (i = 1; i < 3; i++) { if (s[i] > s[best]) { best = i; } }
    return best;
}
"""


@dataclass(frozen=True)
class Sample:
    """A C model, rows for it, and what it must give for them."""

    export: Export
    X: NDArray[np.float32]
    scores: NDArray[np.float32]
    labels: NDArray[np.int32]


def c_export(source: str, n_features: int, n_outputs: int) -> Export:
    files = {"m.h": HEADER, "m.c": b'#include "m.h"\n' + source.encode()}
    return Export("c99", "c", "m", files, ("m.c",), n_features, n_outputs, table_bytes=0, usage="cc -c m.c")


def dyadic_rows(n_features: int) -> NDArray[np.float32]:
    return np.random.default_rng(7).integers(-16, 17, size=(150, n_features)).astype(np.float32) / np.float32(4)


def binary_sample() -> Sample:
    X = dyadic_rows(3)
    scores = (np.abs(X) * X) @ np.array([[0.5], [-1.25], [2.0]], dtype=np.float32) + np.float32(0.25)
    return Sample(c_export(BINARY, 3, 1), X, scores, (scores[:, 0] > 0).astype(np.int32))


def multi_sample() -> Sample:
    X = dyadic_rows(4)
    W = np.array([[1, 0.5, -0.25, 2], [1, -0.5, 0.75, 1], [-2, 0.5, 0, 1.5]], dtype=np.float32)
    scores = X @ W.T + np.array([0.5, 0.5, -1], dtype=np.float32)
    return Sample(c_export(MULTI, 4, 3), X, scores, np.argmax(scores, axis=1).astype(np.int32))


@pytest.fixture(params=[binary_sample, multi_sample], ids=["binary", "multi"])
def sample(request: pytest.FixtureRequest) -> Sample:
    made: Sample = request.param()
    return made


@pytest.fixture
def multi() -> Sample:
    return multi_sample()


@pytest.fixture
def make_export() -> Callable[[str, int, int], Export]:
    """Return what turns C text into an export with the prefix ``m``."""
    return c_export


@pytest.fixture
def null_write() -> Export:
    """A model that writes to address 0, which is an error wherever no memory is there."""
    source = """
    void m_scores(const float *x, float *scores) { scores[0] = x[0]; }
    int m_predict(const float *x) { *(volatile float *)(x[0] > 1e9f ? (char *)16 : (char *)0) = x[0]; return 0; }
    """
    return c_export(source, 1, 1)


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what makes the named packages and programs look as if they were not installed."""
    import importlib.util
    import shutil

    find_spec, which = importlib.util.find_spec, shutil.which

    def hide_names(*names: str) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda m, p=None: None if m in names else find_spec(m, p))
        monkeypatch.setattr(shutil, "which", lambda c, *a, **k: None if c in names else which(c, *a, **k))

    return hide_names
