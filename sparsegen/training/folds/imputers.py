"""SimpleImputer: the number that a NaN counts as, feature by feature."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.impute import SimpleImputer

from sparsegen.errors import OptionError
from sparsegen.model import Transform
from sparsegen.training.folds import FOLDS, Affine


def _filling(imputer: SimpleImputer) -> Transform:
    missing = imputer.missing_values
    if not isinstance(missing, Real) or not np.isnan(float(missing)):
        raise OptionError("SimpleImputer takes something else than NaN for missing; fit it with missing_values=np.nan")
    if imputer.add_indicator:
        raise OptionError(
            "SimpleImputer(add_indicator=True) adds a column for each with gaps, which a model has no form for; fit it "
            "without"
        )
    try:
        fill = np.asarray(imputer.statistics_, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError("SimpleImputer fills in something else than numbers; use it on numbers only") from None
    if not np.isfinite(fill).all():
        feature = int(np.argmin(np.isfinite(fill))) + 1
        raise OptionError(
            f"SimpleImputer was fitted on rows without any number in feature {feature}; leave that feature out"
        )
    d = len(fill)
    return Transform(np.zeros(d), np.ones(d), fill=fill)


FOLDS.register("imputers")(Affine((SimpleImputer,), _filling))
