"""Scalers: a shift and a factor per feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from sparsegen.errors import OptionError
from sparsegen.model import Transform
from sparsegen.training.fitted import name_of
from sparsegen.training.folds import FOLDS, Affine


def _by_centre_and_width(scaler: Any) -> Transform:
    """Return ``(x - centre) / width``, where ``None`` leaves that part out."""
    d = int(scaler.n_features_in_)
    centre = scaler.center_ if isinstance(scaler, RobustScaler) else scaler.mean_ if scaler.with_mean else None
    return Transform(
        np.zeros(d) if centre is None else np.asarray(centre),
        np.ones(d) if scaler.scale_ is None else 1.0 / np.asarray(scaler.scale_),
    )


def _max_abs(scaler: MaxAbsScaler) -> Transform:
    _refuse_clipping(scaler)
    return Transform(np.zeros(len(scaler.scale_)), 1.0 / scaler.scale_)


def _min_max(scaler: MinMaxScaler) -> Transform:
    _refuse_clipping(scaler)
    return Transform(-scaler.min_ / scaler.scale_, scaler.scale_)


def _refuse_clipping(scaler: Any) -> None:
    if getattr(scaler, "clip", False):
        raise OptionError(f"{name_of(scaler)}(clip=True) cannot be folded into the model; fit it with clip=False")


FOLDS.register("standard")(Affine((StandardScaler, RobustScaler), _by_centre_and_width))
FOLDS.register("maxabs")(Affine((MaxAbsScaler,), _max_abs))
FOLDS.register("minmax")(Affine((MinMaxScaler,), _min_max))
