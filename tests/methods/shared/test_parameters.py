"""Declared parameters: constructor, checks and docstring follow from them, as if they had been written by hand."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from pathlib import Path

import pytest
from reference import Rows
from sklearn.base import clone

import sparsegen
from sparsegen import SLMC, SVM
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.shared.parameters import POSITIVE, Parameterized, parameter, positional, whole


class Quick(SLMC):
    """A variant with other defaults and a parameter of its own."""

    method = "slmc"
    max_iter: int = 3
    tol: float = 0.5
    effort: int = parameter(1, "how hard to try", whole(1, 9))


class Two(Parameterized):
    first: int | None = positional(default=None, meaning="one", allowed=(whole(1),), kw_only=False)
    second: float = parameter(2.0, "two", POSITIVE)


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_every_parameter_is_in_signature_docstring_and_checks(kind: type[SparseClassifier]) -> None:
    signature = inspect.signature(kind)
    names = list(signature.parameters)
    documentation = inspect.getdoc(kind) or ""
    assert kind().get_params() == {name: one.default for name, one in signature.parameters.items()}
    assert set(kind._parameter_constraints) == set(names)
    assert re.findall(r"^    (\w+): \S", documentation, re.MULTILINE) == names
    assert documentation.count("Args:") == 1
    for name, one in signature.parameters.items():
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert one.kind is (positional if name == "n_vectors" else inspect.Parameter.KEYWORD_ONLY)
        assert one.annotation is not inspect.Parameter.empty
        assert not hasattr(kind, name)  # the declaration is not left behind as a class attribute
    if "n_vectors" in names:
        assert names[0] == "n_vectors"
        assert kind(7).get_params()["n_vectors"] == 7  # type: ignore[call-arg, arg-type]


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_unknown_and_unnamed_arguments_are_refused(kind: type[SparseClassifier]) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\) got an unexpected keyword argument 'gama'"):
        kind(gama=1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional argument"):
        kind(1, 2)  # type: ignore[call-arg, arg-type]


def test_a_subclass_inherits_and_may_change_defaults(two_classes: Rows) -> None:
    quick = Quick(4, random_state=0)
    assert (quick.n_vectors, quick.max_iter, quick.tol, quick.effort, quick.C) == (4, 3, 0.5, 1, 1.0)
    assert SLMC().max_iter == 100
    assert Quick(max_iter=7).max_iter == 7
    assert "most iterations" in (Quick.__doc__ or "")
    assert quick.fit(*two_classes).n_iter_ <= 3
    for name, value in (("max_iter", 0), ("tol", -1.0), ("effort", 10), ("kernel_params", 3)):
        with pytest.raises(ValueError, match=f"'{name}' parameter of Quick must be"):
            clone(quick).set_params(**{name: value}).fit(*two_classes)


def test_copies_and_texts_are_scikit_learns() -> None:
    quick = Quick(5, kernel_params={})
    for twin in (clone(quick), copy.deepcopy(quick), pickle.loads(pickle.dumps(quick))):
        assert twin.get_params() == quick.get_params()
    assert repr(Quick(5, C=2.0)) == "Quick(C=2.0, n_vectors=5)"
    assert repr(SVM()) == "SVM()"
    assert str(inspect.signature(SVM)).startswith("(*, C: 'float' = 1.0, tol: 'float' = 0.001, ")


def test_a_constructor_written_by_hand_is_left_alone() -> None:
    class ByHand(Two):
        """Has a constructor."""

        def __init__(self, second: float = 5.0) -> None:
            super().__init__(3, second=second)

    assert vars(ByHand()) == {"first": 3, "second": 5.0}
    assert vars(Two(1)) == {"first": 1, "second": 2.0}
    assert Two.__doc__ is None


def test_private_names_of_scikit_learn_have_one_home() -> None:
    package = Path(sparsegen.__file__).parent
    private = re.compile(r"sklearn[\w.]*(?:\._(?!_)| import [^()\n]*\b_(?!_)| import \([^)]*\b_(?!_))")
    users = [str(path.relative_to(package)) for path in package.rglob("*.py") if private.search(path.read_text())]
    assert users == [str(Path("methods", "shared", "sklearn_private.py"))]
