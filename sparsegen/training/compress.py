"""A fitted machine on fewer vectors: its reduced set first, then an SLMC that starts from these vectors.

The reduced set [W05, eq. 4] brings an expansion on m vectors near the machine's own and knows no data. From there SLMC
[W05, section 3] moves the vectors and solves for the coefficients on labelled rows, with the machine's kernel and
scaling; the machine itself is not asked again. What is lost is measured on rows that neither has seen here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.errors import DataError, ModelError, OptionError, SparsegenError
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.reduced_set import reduce_set
from sparsegen.methods.shared.sklearn_private import InvalidParameterError
from sparsegen.methods.slmc import SLMC
from sparsegen.model import SparseModel
from sparsegen.model.held_out import remember
from sparsegen.promised import Accuracy
from sparsegen.threads import one_thread
from sparsegen.training import report
from sparsegen.training.choose import AUTO, search
from sparsegen.training.train import check_sets, data_card, parameter_sentence

STARTS, MAX_ITER, TOL = 2, 200, 1e-6
"""Of the search for a reduced set."""


@dataclass(frozen=True)
class Compression:
    """A machine on fewer vectors, and what that costs on the held-out rows."""

    model: SparseModel
    original: SparseModel
    reduced: SparseModel
    """The reduced set alone, from which the model was trained."""
    result: Accuracy
    """The model's on the held-out rows."""
    original_accuracy: float
    """On the same rows; the original may have been trained on them, which flatters it."""
    reduced_accuracy: float
    agreement: float
    """Share of the held-out rows to which model and original give the same label."""

    @property
    def accuracy(self) -> float:
        """Share of the held-out rows that the model labels correctly."""
        return self.result.share

    @property
    def loss(self) -> float:
        """By how much the share of rows labelled correctly falls; below 0 where it rises."""
        return self.original_accuracy - self.accuracy

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "method": self.original.card.get("method", "unknown"),
            "sha256": self.original.sha256,
            "vectors": self.original.n_vectors,
            "accuracy": self.original_accuracy,
            "reduced_set_accuracy": self.reduced_accuracy,
            "agreement": self.agreement,
        }


def compress(
    original: SparseModel,
    train_set: Dataset,
    test_set: Dataset,
    n_vectors: int,
    *,
    C: float | str = AUTO,
    seed: int = 0,
) -> Compression:
    """Return a fitted machine rewritten on ``n_vectors`` vectors and trained on from there, with what that costs."""
    _check(original, n_vectors)
    for rows in (train_set, test_set):
        _check_rows(original, rows)
    check_sets(train_set, test_set, n_vectors)
    try:
        with one_thread():
            reduced = _reduced(original, n_vectors, seed)
            learnt, chosen = _train_on(original, reduced.vectors, train_set, C, seed)
    except InvalidParameterError as error:
        raise OptionError(parameter_sentence(str(error))) from None
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        if isinstance(error, SparsegenError) and not isinstance(error, ModelError):
            raise
        raise OptionError(
            f"compressing broke down ({str(error).rstrip('.')[:80]}); bring C closer to 1, or bring the rows that the "
            "model was trained on, scaled alike"
        ) from error
    model = replace(learnt, transform=original.transform)
    result, confusion = report.measure(model, test_set)
    before, after = original.predict(test_set.X), model.predict(test_set.X)
    found = Compression(
        model=model,
        original=original,
        reduced=reduced,
        result=result,
        original_accuracy=_share_of_same(before, test_set.y),
        reduced_accuracy=_share_of_same(reduced.predict(test_set.X), test_set.y),
        agreement=_share_of_same(before, after),
    )
    card = {
        **learnt.card,
        "method": "slmc from a reduced set",
        **report.tested_card(result, confusion),
        **data_card(model, train_set, "as the original"),
        "held_out": remember(test_set.X, train_set.X),
        "compressed": found.as_json(),
        **chosen,
    }
    return replace(found, model=replace(model, card=card))


def _check(original: SparseModel, n_vectors: int) -> None:
    if n_vectors < 1:
        raise OptionError(f"n_vectors is {n_vectors}, but must be 1 or more")
    if len(original.kernels) != 1:
        raise OptionError(f"the model mixes {len(original.kernels)} kernels; a model of one kernel can be compressed")
    if original.kernels[0].is_linear:
        raise OptionError("the model is linear: exports store one vector per output, and there is nothing to reduce")
    if n_vectors >= original.n_vectors:
        raise OptionError(
            f"the model has {original.n_vectors} vectors; ask for fewer than that, not for {n_vectors}",
            change={"vectors": ""},
        )


def _check_rows(original: SparseModel, rows: Dataset) -> None:
    if rows.X.shape[1] != original.n_features:
        raise DataError(
            f"{rows.source} has {rows.X.shape[1]} features, but the model has {original.n_features}; bring the rows "
            "that it was trained on"
        )
    known = {str(label) for label in original.classes}
    unknown = next((str(label) for label in rows.y.tolist() if str(label) not in known), None)
    if unknown is not None:
        raise DataError(
            f"{rows.source} has the label {unknown!r:.40}, which is no class of the model; bring rows of its classes, "
            "or name the column that holds them",
            change={"label": ""},
        )


def _reduced(original: SparseModel, n_vectors: int, seed: int) -> SparseModel:
    """Return the model that lies nearest to the original in feature space."""
    rng = np.random.RandomState(seed)
    (kernel,) = original.kernels
    found = reduce_set(original.vectors, original.coef[:, 0, :], kernel, n_vectors, STARTS, MAX_ITER, TOL, rng)
    return replace(original, vectors=found.Z, coef=found.beta[:, None, :], calibration=None)


def _train_on(
    original: SparseModel, Z: Array, rows: Dataset, C: float | str, seed: int
) -> tuple[SparseModel, dict[str, Any]]:
    """Return the SLMC that starts from Z, on the rows as the original's kernel sees them, and how C was chosen."""
    (kernel,) = original.kernels
    family = KERNELS[kernel.name]
    values = dict(kernel.params)
    settings: dict[str, Any] = {name: values.pop(name) for name in ("coef0", "degree") if name in values}
    if "degree" in settings:
        settings["degree"] = int(settings["degree"])  # a whole number, which SLMC insists on
    if family.scale_parameter is not None:
        settings["gamma"] = values.pop(family.scale_parameter)
    settings |= {"kernel": kernel.name, "kernel_params": values or None, "C": C, "random_state": seed}
    estimator = SLMC(init=Z, **settings)
    seen = original.transform(rows.X)
    found = search(estimator, seen, rows.y, seed, groups=rows.groups)
    estimator.fit(seen, rows.y)
    return estimator.model_, {} if found is None else {"search": found.as_json()}


def _share_of_same(labels: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the share of equal labels; ``1`` and ``"1"`` are the same label."""
    return float(np.mean(labels.astype(str) == others.astype(str)))
