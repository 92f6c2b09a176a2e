"""Python functions: only the one that does nothing can be part of a model."""

from __future__ import annotations

from sklearn.preprocessing import FunctionTransformer

from sparsegen.errors import OptionError
from sparsegen.training.folds import FOLDS, Affine


def _nothing(transformer: FunctionTransformer) -> None:
    if transformer.func is not None:
        raise OptionError(
            "FunctionTransformer runs a Python function, which no device can; compute these features before the "
            "pipeline, on the device too"
        )


FOLDS.register("functions")(Affine((FunctionTransformer,), _nothing))
