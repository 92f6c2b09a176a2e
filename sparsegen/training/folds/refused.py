"""Transformers that a model cannot hold, each with what to do instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.impute import KNNImputer
from sklearn.kernel_approximation import RBFSampler

from sparsegen.errors import OptionError
from sparsegen.model import SparseModel
from sparsegen.training.folds import FOLDS, Fold


@dataclass(frozen=True)
class Refused(Fold):
    """Transformers without an exact form."""

    sentence: str
    is_exact = False

    def into(self, step: Any, model: SparseModel) -> SparseModel:
        """Refuse with the sentence."""
        raise OptionError(self.sentence)

    def not_affine(self, step: Any) -> str:
        """Return the sentence."""
        return self.sentence


FOLDS.register("random features")(
    Refused(
        (RBFSampler,),
        "RBFSampler makes cosines, which are no sum of kernels; use Nystroem, which becomes an exact sparse machine",
    )
)
FOLDS.register("neighbours")(
    Refused(
        (KNNImputer,),
        "KNNImputer looks for rows like the one with a gap, which a model does not hold; use SimpleImputer, or fit the "
        "pipeline on rows that are filled in, and fill them in on the device too",
    )
)
