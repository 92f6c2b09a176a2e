"""A fitted machine on fewer vectors: its reduced set first, then, where rows are to help, what they make of it.

The reduced set [W05, eq. 4] brings an expansion on m vectors near the machine's own and knows no data; ``rs`` stops
there. ``mrs`` [W05, section 6.1] keeps its vectors and solves for the coefficients of an exact SVM on labelled rows.
``slmc`` [W05, section 3] moves the vectors too. Both take the machine's kernel and scaling, and do not ask the machine
again. What is lost is measured on rows that nothing here was trained on. The machine's own vectors may know them all
the same, so that only those that the machine did not see either are remembered as held out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.errors import DataError, ModelError, OptionError, SparsegenError, nearest
from sparsegen.kernels import KERNELS
from sparsegen.methods.rs import RS
from sparsegen.methods.shared.reduced_set import reduce_set
from sparsegen.methods.shared.sklearn_private import InvalidParameterError
from sparsegen.methods.slmc import SLMC
from sparsegen.model import SparseModel
from sparsegen.model.held_out import held_out, remember
from sparsegen.promised import Accuracy
from sparsegen.threads import one_thread
from sparsegen.training import report
from sparsegen.training.choose import AUTO, search
from sparsegen.training.train import check_sets, data_card, parameter_sentence
from sparsegen.version import __version__

STARTS, MAX_ITER, TOL = 2, 200, 1e-6
"""Of the search for a reduced set."""
SLMC_FROM_VECTORS: dict[str, dict[str, Any] | None] = {
    "slmc": {},
    "mrs": {"loss": "hinge", "optimize": "coefficients"},
    "rs": None,
}
"""By method, the parameters of the SLMC that starts from the reduced set; ``None`` where nothing is trained."""


@dataclass(frozen=True)
class Compression:
    """A machine on fewer vectors, and what that costs on the held-out rows."""

    model: SparseModel
    original: SparseModel
    reduced: SparseModel
    """The reduced set alone; the model itself, or what it was trained from."""
    method: str
    """How the model was made: a key of SLMC_FROM_VECTORS."""
    result: Accuracy
    """The model's on the held-out rows."""
    original_accuracy: float
    """On the same rows; the original may have been trained on them, which flatters it."""
    reduced_accuracy: float
    agreement: float
    """Share of the held-out rows to which model and original give the same label."""

    @property
    def is_trained(self) -> bool:
        """Whether the model is more than the reduced set alone."""
        return SLMC_FROM_VECTORS[self.method] is not None

    @property
    def accuracy(self) -> float:
        """Share of the held-out rows that the model labels correctly."""
        return self.result.share

    @property
    def loss(self) -> float:
        """By how much the share of rows labelled correctly falls; below 0 where it rises."""
        n = self.result.rows
        return round((self.original_accuracy - self.accuracy) * n) / n  # 0.1, and not what 0.8 - 0.7 is in binary

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
    method: str = "slmc",
    C: float | str = AUTO,
    seed: int = 0,
) -> Compression:
    """Return a fitted machine rewritten on ``n_vectors`` vectors, with what that costs.

    ``method`` is ``rs``, which is the reduced set; ``mrs``, which trains its coefficients on the rows; or ``slmc``,
    which trains its vectors as well. ``C`` weighs errors on these rows.
    """
    _check(original, n_vectors)
    _check_method(method, C)
    for rows in (train_set, test_set):
        _check_rows(original, rows)
    check_sets(train_set, test_set, n_vectors)
    try:
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):  # no news where the model comes out finite
            reduced = _reduced(original, n_vectors, seed)
            settings = SLMC_FROM_VECTORS[method]
            model = reduced if settings is None else _trained(original, reduced.vectors, train_set, settings, C, seed)
    except InvalidParameterError as error:
        raise OptionError(parameter_sentence(str(error))) from None
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        if isinstance(error, SparsegenError) and not isinstance(error, ModelError):
            raise
        raise OptionError(
            f"compressing broke down ({str(error).rstrip('.')[:80]}); bring C closer to 1, or bring the rows that the "
            "model was trained on, scaled alike"
        ) from error
    result, confusion = report.measure(model, train_set, test_set)
    before, after = original.predict(test_set.X), model.predict(test_set.X)
    found = Compression(
        model=model,
        original=original,
        reduced=reduced,
        method=method,
        result=result,
        original_accuracy=_share_of_same(before, test_set.y),
        reduced_accuracy=_share_of_same(reduced.predict(test_set.X), test_set.y),
        agreement=_share_of_same(before, after),
    )
    card = {
        **model.card,
        "method": f"{method} from a reduced set" if found.is_trained else f"{method} of a fitted machine",
        **report.tested_card(result, confusion),
        **data_card(model, train_set, "as the original"),
        "held_out": remember(test_set.X[_unseen(original, test_set)], train_set.X),
        "compressed": found.as_json(),
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


def _check_method(method: str, C: float | str) -> None:
    if method not in SLMC_FROM_VECTORS:
        known = ", ".join(SLMC_FROM_VECTORS)
        raise OptionError(
            f"method {method!r:.40} compresses nothing{nearest(method, SLMC_FROM_VECTORS)}; choose one of: {known}"
        )
    if SLMC_FROM_VECTORS[method] is None and C != AUTO:
        raise OptionError(f"C weighs errors on rows, and {method} is not trained on rows; leave C out")


def _check_rows(original: SparseModel, rows: Dataset) -> None:
    if not original.has_classes:
        raise ModelError(
            "the model gives values, and only classifiers are compressed; train a regression with fewer vectors instead"
        )
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
    """Return the model that lies nearest to the original in feature space; its card tells of the search alone."""
    rng = np.random.RandomState(seed)
    (kernel,) = original.kernels
    found = reduce_set(original.vectors, original.coef[:, 0, :], kernel, n_vectors, STARTS, MAX_ITER, TOL, rng)
    card = {
        "fit": {"iterations": found.iterations, "residual": found.residual},
        "coefficients": f"{RS.coefficient_formula}; no m x m matrix is stored",
        "sparsegen": __version__,
    }
    return replace(original, vectors=found.Z, coef=found.beta[:, None, :], calibration=None, card=card)


def _trained(
    original: SparseModel, Z: Array, rows: Dataset, own: dict[str, Any], C: float | str, seed: int
) -> SparseModel:
    """Return the SLMC with parameters of its own that starts from Z, on rows as the original's kernel sees them."""
    (kernel,) = original.kernels
    family = KERNELS[kernel.name]
    values = dict(kernel.params)
    settings: dict[str, Any] = {name: values.pop(name) for name in ("coef0", "degree") if name in values}
    if "degree" in settings:
        settings["degree"] = int(settings["degree"])  # a whole number, which SLMC insists on
    if family.scale_parameter is not None:
        settings["gamma"] = values.pop(family.scale_parameter)
    settings |= {"kernel": kernel.name, "kernel_params": values or None, "C": C, "random_state": seed}
    estimator = SLMC(init=Z, **settings, **own)
    seen = original.transform(rows.X)
    found = search(estimator, seen, rows.y, seed, groups=rows.groups)
    learnt: SparseModel = estimator.fit(seen, rows.y).model_
    card = {**learnt.card} if found is None else {**learnt.card, "search": found.as_json()}
    return replace(learnt, transform=original.transform, card=card)


def _unseen(original: SparseModel, rows: Dataset) -> NDArray[np.bool_]:
    """Return which rows the original is known not to have been trained on: its vectors know the others."""
    found = held_out(original.card, rows.X)
    return np.zeros(len(rows.X), dtype=np.bool_) if found is None else found


def _share_of_same(labels: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the share of equal labels; ``1`` and ``"1"`` are the same label."""
    return float(np.mean(labels.astype(str) == others.astype(str)))
