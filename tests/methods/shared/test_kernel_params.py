"""Kernels whose parameters have names of their own: methods train with them, and the choice of gamma finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import Rows

from sparsegen import SLMC, SVM, data
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import SQDIST, Exp, Param
from sparsegen.methods import classifiers
from sparsegen.methods.shared.estimator import SparseClassifier, scale_gamma
from sparsegen.methods.smkc1 import SMKC1
from sparsegen.training import choose
from sparsegen.training import train as training

QUICK = {"n_vectors": 4, "n_init": 1}


@pytest.fixture(autouse=True)
def powered(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A Gaussian raised to a power: two parameters, neither of them called as in LIBSVM."""
    kernel = Kernel(
        "powered",
        "exp(-width_inverse * |x - z|^2)^power",
        Exp(-(Param("width_inverse") * SQDIST)) ** Param("power"),
        {
            "width_inverse": Parameter("inverse squared width", 1.0, positive=True),
            "power": Parameter("power", 1.0, minimum=1.0, maximum=8.0, whole=True),
        },
        scale_parameter="width_inverse",
    )
    len(KERNELS)  # the registry is complete before an entry is added
    monkeypatch.setitem(KERNELS._entries, "powered", kernel)
    return kernel


def made(method: str, **options: Any) -> SparseClassifier:
    known = classifiers()[method]().get_params()
    quick = {name: value for name, value in QUICK.items() if name in known}
    return classifiers()[method](**{**quick, "random_state": 0, "kernel": "powered", **options})


@pytest.mark.parametrize("method", classifiers())
def test_every_method_trains_and_passes_the_parameters_on(method: str, two_classes: Rows) -> None:
    model = made(method, gamma=0.5, kernel_params={"power": 2}).fit(*two_classes).model_
    params = [dict(kernel.params) for kernel in model.kernels]
    assert {one["power"] for one in params} == {2.0}
    widths = [one["width_inverse"] for one in params]
    assert all(np.log2(width / 0.5) % 2.0 == 0.0 for width in widths)
    assert len(params) > 1 or widths == [0.5]
    assert model.card["parameters"]["kernel_params"] == {"power": 2}
    assert np.mean(model.predict(two_classes[0]) == two_classes[1]) > 0.7


def test_the_kernel_is_the_one_that_its_formula_says(two_classes: Rows) -> None:
    X, y = two_classes
    twin = SVM(gamma=1.5).fit(X, y)
    powered = SVM(kernel="powered", gamma=0.5, kernel_params={"power": 3}, tol=1e-3).fit(X, y)
    assert np.allclose(powered.decision_function(X), twin.decision_function(X), atol=0.05)


def test_scale_and_defaults(two_classes: Rows) -> None:
    X, y = two_classes
    params = dict(SLMC(3, max_iter=1, kernel="powered").fit(X, y).model_.kernels[0].params)
    assert params == {"width_inverse": pytest.approx(scale_gamma(X)), "power": 1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_params": {"nu": 1.0}}, "kernel 'powered' has no parameter nu"),
        ({"kernel_params": {"power": "x"}}, "power is 'x', but must be a whole number >= 1 and <= 8"),
        ({"kernel_params": {"width_inverse": 1.0}}, "kernel_params holds 'width_inverse'; give it as gamma instead"),
        ({"kernel": "poly", "kernel_params": {"degree": 2}}, "kernel_params holds 'degree'; give it as degree instead"),
        ({"kernel": "rbf", "kernel_params": {"power": 2}}, "kernel 'rbf' has no parameter power"),
        ({"kernel": "linear", "kernel_params": {"gamma": 2}}, "kernel 'linear' has no parameter gamma"),
    ],
)
def test_what_the_kernel_does_not_take_is_one_sentence(
    options: dict[str, Any], message: str, two_classes: Rows
) -> None:
    with pytest.raises(OptionError, match=message):
        made("slmc", **options).fit(*two_classes)


def test_a_radial_kernel_without_scale_cannot_be_mixed(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = Kernel("fixed", "exp(-|x - z|^2)", Exp(-(1.0 * SQDIST)))
    monkeypatch.setitem(KERNELS._entries, "fixed", fixed)
    with pytest.raises(OptionError, match=r"'fixed' cannot be mixed.* choose one of: .*powered"):
        SMKC1(3, kernel="fixed").fit(*two_classes)


def test_make_estimator_takes_the_kernels_own_names() -> None:
    made = training.make_estimator("slmc", {"kernel": "powered", "power": 2, "width_inverse": 0.25, "C": 3.0})
    assert (made.gamma, made.kernel_params, made.get_params()["C"]) == (0.25, {"power": 2}, 3.0)
    merged = training.make_estimator("svm", {"kernel": "powered", "power": 2, "kernel_params": {"power": 3}})
    assert merged.kernel_params == {"power": 2}
    assert training.make_estimator("svm", {"kernel": "poly", "degree": 2}).get_params()["degree"] == 2
    with pytest.raises(OptionError, match="gamma and width_inverse are one parameter here; give one of them"):
        training.make_estimator("svm", {"kernel": "powered", "gamma": 1.0, "width_inverse": 2.0})
    with pytest.raises(
        OptionError, match=r"has no parameter 'powr' \(did you mean 'power'\?\); it has: .*width_inverse"
    ):
        training.make_estimator("svm", {"kernel": "powered", "powr": 2})
    with pytest.raises(OptionError, match="method 'svm' has no parameter 'power'"):
        training.make_estimator("svm", {"power": 2})
    with pytest.raises(OptionError, match="there is no kernel 'pwred'"):
        training.make_estimator("svm", {"kernel": "pwred", "power": 2})


@pytest.mark.parametrize("name", ["gamma", "width_inverse"])
def test_gamma_and_c_are_chosen_whatever_the_scale_is_called(name: str, two_classes: Rows) -> None:
    rows = data.from_arrays(*two_classes)
    parameters = {"kernel": "powered", name: "auto", "C": "auto", "power": 2, "n_vectors": 3, "max_iter": 2}
    report = training.train(rows, rows, parameters=parameters)
    assert report.search is not None
    assert len(report.search.candidates) == 4 + 4 + 3  # gamma with either scaling, then C
    params = dict(report.model.kernels[0].params)
    assert params == {"width_inverse": report.search.chosen["gamma"], "power": 2.0}


def test_a_kernel_without_scale_is_searched_for_c_alone(two_classes: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = Kernel("fixed", "exp(-|x - z|^2)", Exp(-(1.0 * SQDIST)))
    monkeypatch.setitem(KERNELS._entries, "fixed", fixed)
    found = choose.search(SLMC(3, max_iter=2, kernel="fixed", gamma="auto", C="auto"), *two_classes, seed=0)  # type: ignore[arg-type]
    assert found is not None
    assert set(found.chosen) == {"C"}


def test_a_kernel_parameter_that_the_method_has_too_is_refused(
    two_classes: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``tol`` would set the method's and leave the kernel's at its default, without a word."""
    meaning = Parameter("inverse squared width", 1.0, positive=True)
    shadowed = Kernel("shadowed", "1 / (1 + tol * |x - z|^2)", 1 / (1 + Param("tol") * SQDIST), {"tol": meaning})
    list(KERNELS)
    monkeypatch.setitem(KERNELS._entries, "shadowed", shadowed)
    with pytest.raises(OptionError, match="kernel 'shadowed' and method 'slmc' both have a parameter 'tol'; rename"):
        SLMC(4, kernel="shadowed").fit(*two_classes)
