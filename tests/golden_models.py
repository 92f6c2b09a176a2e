"""Hand-written models of every kind that the C export treats differently. Nothing is trained or random here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.lowering.formats import Format
from sparsegen.model import LARGEST, VALUE, VOTES, Calibration, SparseModel, Transform
from sparsegen.model.decision import DECISIONS
from sparsegen.targets import PORTABLE, TARGETS, Export


def wave(*shape: int, step: float = 1.0, size: float = 1.0):
    """Return numbers in -size..size without pattern, exact in few digits, the same everywhere."""
    n = int(np.prod(shape))
    return np.round(size * np.sin(step * np.arange(1, n + 1) ** 1.5), 3).reshape(shape)


def model(
    kernels, m, d, classes, *, projected=None, offset=None, scale=None, card=None, decision=LARGEST,
    task="classification",
) -> SparseModel:  # fmt: skip
    """Return a model with m vectors of d features."""
    bound = tuple(k if isinstance(k, BoundKernel) else KERNELS[k[0]].bind(**k[1]) for k in kernels)
    n_outputs = DECISIONS[decision].n_outputs(len(classes))
    seen = projected or d
    transform = Transform(
        np.zeros(d) if offset is None else offset,
        np.ones(d) if scale is None else scale,
        None if projected is None else wave(projected, d, step=0.7, size=1.5 / np.sqrt(d)),
    )
    return SparseModel(
        wave(m, seen), wave(n_outputs, len(bound), m, step=1.3, size=1.5), wave(n_outputs, step=0.3, size=0.2),
        bound, transform, classes, task=task, card=card or {"method": "by hand"}, decision=decision,
    )  # fmt: skip


def filled(of: SparseModel, fill) -> SparseModel:
    """Return the model to which a NaN counts as a number."""
    return replace(of, transform=replace(of.transform, fill=fill))


def rbf(gamma=0.25):
    return ("rbf", {"gamma": gamma})


CARD = {
    "method": "by hand",
    "accuracy": 0.9625,
    "test_rows": 80,
    "feature_names": ["width", 'a "quoted" */ name', "größe"],
}
ERRORS = {
    "rows": 80, "mae": 0.25, "rmse": 0.3125, "r2": 0.9375, "mae_low": 0.21, "mae_high": 0.29, "mean_mae": 1.25,
    "groups": None, "copies": 0,
}  # fmt: skip
ALARMS = {
    "normal": "*/ ok",
    "nu": 0.05,
    "area": 0.96875,
    "alarms": {"correct": 3, "rows": 80, "independent": 20.0, "groups": 20, "copies": 1},
    "detections": {"correct": 9, "rows": 12, "independent": None, "groups": None, "copies": 0},
}
SMALL = {
    "binary_rbf": model([rbf()], 4, 3, (0, 1), card=CARD),
    "laplacian_text": model([("laplacian", {"gamma": 0.5})], 5, 4, ("left", "right", "größer")),
    "poly": model(
        [("poly", {"gamma": 0.5, "coef0": 1.0, "degree": 3})], 3, 5, (-1, 1), offset=wave(5), scale=1.0 + np.arange(5.0)
    ),
    "linear": model([("linear", {})], 6, 4, (10, 20, 30), offset=wave(4), scale=np.array([0.5, 1.0, 2.0, 4.0])),
    "rbf_projected": model([rbf()], 4, 20, (0, 1, 2), projected=3),
    "rbf_buffered": model([rbf(0.1)], 3, 18, (0, 1), offset=1000.0 * wave(18), scale=0.5 + np.arange(18) / 10),
    "cauchy": model([("cauchy", {"gamma": 0.5})], 4, 3, (0, 1)),
    "matern32": model([("matern32", {"gamma": 0.5})], 4, 5, (0, 1, 2), scale=0.5 + np.arange(5) / 8),
    "votes": model([rbf()], 4, 3, ("north", "east", "south", "west"), decision=VOTES),
    "rbf_powers": model([rbf(1.0), rbf(0.25), rbf(0.5), rbf(4.0)], 4, 3, (0, 1, 2)),
    "temperature": replace(
        model([("laplacian", {"gamma": 0.5})], 4, 4, (0, 1, 2)), calibration=Calibration("temperature", 2.5)
    ),
    "value": replace(
        model(
            [rbf()],
            4,
            3,
            (),
            offset=wave(3),
            scale=np.array([0.5, 1.0, 2.0]),
            decision=VALUE,
            task="regression",
            card={"method": "by hand", "target": {"mean": 20.0, "deviation": 1.5}, "values": ERRORS},
        ),
        intercept=np.array([20.5]),
    ),
    "detector": model(
        [rbf()],
        4,
        3,
        ("anomaly", "normal"),
        task="anomaly",
        card={"method": "by hand", "anomalies": ALARMS, "ranges": {"low": [-2.0, -1.0, 5.0], "high": [2.0, 1.0, 5.0]}},
    ),
    "rbf_filled": filled(model([rbf()], 4, 3, (0, 1, 2), scale=np.array([0.5, 1.0, 2.0])), wave(3, step=0.4)),
}
"""The golden ones."""


@dataclass(frozen=True)
class IntegerGolden:
    model: SparseModel
    format: Format
    loops: str = PORTABLE

    def export(self, name: str) -> Export:
        return TARGETS["c"].export(self.model, name, self.format, self.loops)


BALL = replace(
    model(
        [rbf()],
        1,
        2,
        ("anomaly", "normal"),
        offset=np.full(2, 100.0),
        scale=np.full(2, 0.01),
        task="anomaly",
        card={"method": "by hand", "ranges": {"low": [0.0, 0.0], "high": [200.0, 200.0]}},
    ),
    vectors=np.zeros((1, 2)),
    coef=np.ones((1, 1, 1)),
    intercept=np.array([-0.2]),
)
"""A detector that calls normal what lies around (100, 100), to the ends of the range of its training rows."""

INTEGER = {
    "integer_rbf": IntegerGolden(SMALL["binary_rbf"], Format("q7", "grid")),
    "integer_powers": IntegerGolden(model([rbf(1.0), rbf(0.25), rbf(4.0)], 4, 3, (0, 1, 2)), Format("q15", "f32")),
    "integer_projected": IntegerGolden(
        model([rbf()], 4, 18, ("no", "yes"), projected=3, offset=np.full(18, 100.0), scale=np.full(18, 0.02)),
        Format("q7", "raw-int16"),
        "dsp",
    ),
    "integer_avr": IntegerGolden(model([rbf(0.3)], 3, 17, (0, 1)), Format("q15", "raw-int16"), "avr"),
    "integer_cauchy": IntegerGolden(
        model([("cauchy", {"gamma": 0.5}), ("cauchy", {"gamma": 2.0})], 3, 3, (0, 1)),
        Format("q7", "grid"),
    ),
    "integer_laplacian": IntegerGolden(SMALL["laplacian_text"], Format("q7", "f32")),
    "integer_linear": IntegerGolden(
        model([("linear", {})], 6, 4, (10, 20, 30), offset=np.full(4, 50.0), scale=np.full(4, 0.05)),
        Format("q15", "raw-uint8"),
    ),
    "integer_platt": IntegerGolden(
        replace(model([rbf()], 4, 3, ("no", "yes")), calibration=Calibration("platt", 1.7, 0.25)),
        Format("q7", "raw-int16", reject=0.8),
    ),
    "integer_votes": IntegerGolden(SMALL["votes"], Format("q15", "f32", early_exit=True)),
    "integer_filled": IntegerGolden(filled(model([rbf()], 4, 3, (0, 1, 2)), wave(3, step=0.4)), Format("q7", "f32")),
    "integer_detector": IntegerGolden(SMALL["detector"], Format("q7", "f32")),
    "integer_value": IntegerGolden(SMALL["value"], Format("q7", "f32")),
    "integer_narrow": IntegerGolden(model([rbf(0.1), rbf(0.4)], 5, 6, (0, 1, 2)), Format("q7c8", "grid")),
}
"""The golden ones in integers."""

LARGE = {
    "several_kernels": model([rbf(), rbf(0.5), ("linear", {}), ("laplacian", {"gamma": 0.3})], 7, 10, (0, 1, 2)),
    "several_binary": model([rbf(), ("poly", {"degree": 4}), ("laplacian", {"gamma": 0.3})], 5, 9, (0, 1)),
    "weighted_squares": model([rbf()], 6, 7, (0, 1), scale=0.5 + np.arange(7) / 8),
    "linear_votes": model([("linear", {})], 3, 5, tuple(range(6)), decision=VOTES),
    "long_rows": model([rbf(0.02)], 6, 45, (0, 1)),
    "differences": model([rbf(900.0)], 4, 6, (0, 1)),
    "projected_buffered": model([("laplacian", {"gamma": 0.2})], 5, 21, (0, 1, 2), projected=17, offset=1e5 * wave(21)),
    "laplacian_buffered": model(
        [("laplacian", {"gamma": 0.1})], 5, 30, (0, 1, 2), offset=1e3 * wave(30), scale=0.5 + np.arange(30) / 9
    ),
    "filled_far": filled(model([rbf(0.02)], 5, 4, (0, 1)), np.array([0.0, -999.0, 0.0, 1e5])),
    "filled_projected": filled(model([rbf()], 4, 20, (0, 1, 2), projected=3), np.full(20, 0.5)),
    "one_feature": model([rbf()], 2, 1, ("no", "yes")),
    "poly_64": model([("poly", {"gamma": 0.1, "degree": 64, "coef0": 0.0})], 3, 4, (0, 1)),
}
EVERY = SMALL | LARGE
"""Every kind."""

FLASH = {
    "binary rbf 16 x 16": model([rbf(0.05)], 16, 16, (0, 1)),
    "digits-like": model([rbf(0.05)], 30, 64, tuple(range(10)), projected=10),
    "laplacian 3 classes": model([("laplacian", {"gamma": 0.2})], 20, 8, (0, 1, 2)),
    "poly 3": model([("poly", {"gamma": 0.1, "degree": 3})], 16, 16, (0, 1)),
    "buffered 30 features": model([rbf(0.03)], 20, 30, (0, 1), offset=1e3 * wave(30), scale=0.2 + np.arange(30) / 30),
    "buffered laplacian, 3 classes": model(
        [("laplacian", {"gamma": 0.03})], 20, 30, (0, 1, 2), offset=1e3 * wave(30), scale=0.2 + np.arange(30) / 30
    ),
}
"""The kinds whose code size is held down."""


def rows(of: SparseModel, n=40):
    """Return raw rows around the data, as float32 holds them."""
    scaled = wave(n, of.n_features, step=0.9, size=1.5)
    raw = (of.transform.offset + scaled / of.transform.scale).astype(np.float32).astype(np.float64)
    if of.transform.fill is not None:  # a NaN in every feature, in rows that hold one, several or nothing else
        raw[np.arange(raw.size).reshape(raw.shape) % 4 == 1] = np.nan
        raw[1] = np.nan
    return raw
