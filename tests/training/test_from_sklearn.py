from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

import sparsegen
from sparsegen import SLMC, SVM, SparseModel, from_sklearn
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model import VOTES
from sparsegen.model.decision import Votes
from sparsegen.verify import verify


def data(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return rows far from zero mean and unit width, one feature constant, so that scaling matters."""
    X, y = make_classification(300, 7, n_informative=5, n_redundant=1, n_classes=n_classes, random_state=0)
    X = X * np.array([1, 10, 0.1, 3, 1, 1, 5]) + np.array([0, 50, 1, -3, 0, 2, 0])
    return np.hstack([X, np.full((300, 1), 4.0)]), y


def sklearn_version() -> tuple[int, ...]:
    return tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def fitted(estimator: Any, n_classes: int = 2) -> Any:
    X, y = data(n_classes)
    return clone(estimator).fit(X[:150], y[:150])


def assert_same_decisions(estimator: Any, n_classes: int = 2) -> SparseModel:
    estimator = fitted(estimator, n_classes)
    X, _ = data(n_classes)
    model = from_sklearn(estimator)
    expected = estimator.decision_function(X).reshape(len(X), -1)
    assert_allclose(model.scores(X), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_array_equal(model.predict(X), estimator.predict(X))
    return model


LINEAR = [
    LinearSVC(),
    LinearSVC(fit_intercept=False),
    LogisticRegression(max_iter=5000),
    LogisticRegression(fit_intercept=False, max_iter=5000),
    RidgeClassifier(),
    RidgeClassifierCV(),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
    LinearDiscriminantAnalysis(),
]
FRONTS = [
    (StandardScaler(),),
    (StandardScaler(with_mean=False),),
    (StandardScaler(with_std=False), StandardScaler(with_mean=False, with_std=False)),
    (MinMaxScaler(feature_range=(-1, 2)),),
    (MaxAbsScaler(),),
    (RobustScaler(),),
    (RobustScaler(with_centering=False, with_scaling=False),),
    (MinMaxScaler(), "passthrough", StandardScaler(), MaxAbsScaler()),
    (PCA(4),),
    (PCA(4, whiten=True),),
    (StandardScaler(), PCA(3)),
    (StandardScaler(), PCA(6, whiten=True), MinMaxScaler(), StandardScaler()),
    (StandardScaler(), PCA(6), StandardScaler(), PCA(3, whiten=True)),
    (make_pipeline(StandardScaler(), "passthrough", PCA(5)), StandardScaler()),
]


# ---- Same decisions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine",
    [
        SVC(),
        SVC(gamma="auto"),
        SVC(gamma=0.01, C=10, class_weight="balanced"),
        SVC(kernel="poly", gamma=0.01),
        SVC(kernel="poly", degree=2, coef0=1.5),
        SVC(kernel="linear", C=0.01),
        NuSVC(nu=0.3),
    ],
    ids=str,
)
def test_svc(machine: Any) -> None:
    model = assert_same_decisions(machine)
    assert model.n_outputs == 1
    assert model.card["method"] == f"sklearn {type(machine).__name__}"
    if machine.kernel == "linear":
        assert model.n_vectors == 1


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.1), SVC(kernel="linear"), SVC(kernel="poly", degree=2)], ids=str)
def test_several_classes_vote_as_libsvm_has_them(machine: Any, load: Any) -> None:
    """Half of the rows: then there are some whose votes are equal, and some that are labelled wrongly."""
    X, y = load(return_X_y=True)
    machine = make_pipeline(StandardScaler(), clone(machine)).fit(X[::2], y[::2])
    model = from_sklearn(machine)
    assert model.decision == VOTES
    assert_array_equal(model.predict(X), machine.predict(X))
    pairs = machine.set_params(**{f"{machine.steps[1][0]}__decision_function_shape": "ovo"}).decision_function(X)
    assert_allclose(model.scores(X), pairs, rtol=1e-9, atol=1e-9 * np.abs(pairs).max())
    n_support = machine[-1].n_support_.sum()
    assert model.n_vectors == (model.n_outputs if machine[-1].kernel == "linear" else n_support)


def test_equal_votes_go_where_libsvm_puts_them() -> None:
    X, y = make_classification(
        400, 4, n_informative=4, n_redundant=0, n_classes=5, n_clusters_per_class=1, random_state=1
    )
    rng = np.random.default_rng(0)
    machine = SVC(C=100).fit(X[:80], rng.permutation(y[:80]))  # labels at random: machines that contradict each other
    model = from_sklearn(machine)
    votes = np.sort(Votes().votes(model.scores(X)), axis=1)
    assert np.count_nonzero(votes[:, -1] == votes[:, -2]) > 20
    assert_array_equal(model.predict(X), machine.predict(X))


@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
def test_probabilities_of_several_voting_classes_are_lost_and_named() -> None:
    machine = fitted(SVC(probability=True, random_state=0), 3)
    with pytest.warns(UserWarning, match="coupled from all pairs"):
        assert from_sklearn(machine).calibration is None


@pytest.mark.parametrize(
    ("dtype", "target", "device"), [("f32", "c", "host"), ("f32", "onnx", "onnxruntime"), ("q7", "c", "host")]
)
def test_votes_on_a_device(dtype: str, target: str, device: str) -> None:
    if DEVICES[device].missing() is not None:
        pytest.skip(f"{device}: {DEVICES[device].missing()}")
    X, y = load_digits(return_X_y=True)
    labels = np.array([f"digit {k}" for k in y])
    model = from_sklearn(make_pipeline(StandardScaler(), SVC()).fit(X[:400], labels[:400]))
    numbers = Format(dtype) if dtype == "f32" else Format(dtype, rows=X[:400])
    (verdict,) = verify(model, X[400:900], target=target, devices=[device], numbers=numbers)
    assert verdict.ok, verdict


def test_svc_fitted_on_sparse_rows() -> None:
    from scipy.sparse import csr_array

    X, y = data()
    machine = SVC().fit(csr_array(X), y)
    assert_allclose(from_sklearn(machine).scores(X)[:, 0], machine.decision_function(csr_array(X)), rtol=1e-9)


def test_svc_gamma_without_the_private_attribute() -> None:
    X, _ = data()
    for gamma in (0.02, "auto"):
        machine = fitted(SVC(gamma=gamma))
        expected = machine.decision_function(X)
        del machine._gamma
        assert_allclose(from_sklearn(machine).scores(X)[:, 0], expected, rtol=1e-9, atol=1e-9)
    machine = fitted(SVC())
    del machine._gamma
    with pytest.raises(OptionError, match="a number for gamma"):
        from_sklearn(machine)


@pytest.mark.parametrize("machine", LINEAR, ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.filterwarnings("ignore:Liblinear failed")
def test_linear(machine: Any, n_classes: int) -> None:
    model = assert_same_decisions(make_pipeline(StandardScaler(), machine), n_classes)
    assert model.n_vectors == model.n_outputs == (1 if n_classes == 2 else n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.filterwarnings("ignore:the model of OneVsRestClassifier")
@pytest.mark.parametrize(
    "machine", [SVC(gamma=0.05), SVC(kernel="linear", C=0.01), LogisticRegression(), SVM(gamma=0.05)], ids=str
)
def test_one_vs_rest(machine: Any, n_classes: int) -> None:
    model = assert_same_decisions(make_pipeline(StandardScaler(), OneVsRestClassifier(machine)), n_classes)
    assert len(np.unique(model.vectors, axis=0)) == model.n_vectors


def test_one_vs_rest_stores_each_support_vector_once() -> None:
    machine = fitted(OneVsRestClassifier(SVC()), 4)
    supports = {tuple(row) for part in machine.estimators_ for row in part.support_vectors_}
    assert from_sklearn(machine).n_vectors == len(supports) < sum(len(m.support_) for m in machine.estimators_)


def test_one_vs_rest_of_pipelines() -> None:
    assert_same_decisions(OneVsRestClassifier(make_pipeline(StandardScaler(), PCA(4), SVC())), 4)


@pytest.mark.parametrize("machine", [SVM(), SLMC(5, max_iter=5, random_state=0)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_own_estimators(machine: Any, n_classes: int) -> None:
    model = assert_same_decisions(make_pipeline(StandardScaler(), machine), n_classes)
    assert model.card["method"] == machine.method


def test_own_estimator_with_a_projection_behind_pca() -> None:
    machine = SLMC(5, projection=2, max_iter=5, random_state=0)
    assert_same_decisions(make_pipeline(StandardScaler(), PCA(5), StandardScaler(), machine))


@pytest.mark.parametrize("front", FRONTS, ids=str)
@pytest.mark.parametrize("machine", [SVC(gamma=0.02), LogisticRegression(max_iter=20_000)], ids=str)
def test_pipeline_is_folded(front: tuple[Any, ...], machine: Any) -> None:
    model = assert_same_decisions(make_pipeline(*front, machine))
    assert model.n_features == 8
    assert model.card["folded"] == [type(step).__name__ for step in front if step != "passthrough"]


def test_pipelines_nest() -> None:
    inner = make_pipeline(PCA(5), SVC())
    model = assert_same_decisions(make_pipeline(StandardScaler(), None, make_pipeline("passthrough", inner)))
    assert model.card["folded"] == ["StandardScaler", "PCA"]


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10]}, cv=2),
        RandomizedSearchCV(SVC(), {"gamma": [0.001, 0.01]}, n_iter=2, cv=2),
    ],
    ids=lambda search: type(search).__name__,
)
def test_searches(search: Any) -> None:
    assert_same_decisions(search)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    "machine", [SVC(C=0.1, class_weight={0: 5}), LogisticRegression(), make_pipeline(PCA(3), LinearSVC())], ids=str
)
@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_calibrated(machine: Any, method: str, flip: bool) -> None:
    X, y = data()
    X = StandardScaler().fit_transform(X)
    if method == "temperature" and sklearn_version() < (1, 8):
        pytest.skip("this scikit-learn has no temperature scaling")
    inner = machine.fit(X[:100], y[:100])
    if flip:  # labels against the scores: the fitted slope is negative
        y = 1 - y
    calibrated = CalibratedClassifierCV(FrozenEstimator(inner), method=method, ensemble=False).fit(X[100:], y[100:])
    model = from_sklearn(calibrated)
    assert_allclose(model.probabilities(X), calibrated.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_array_equal(model.predict(X), calibrated.predict(X))
    assert model.calibration is not None
    assert model.calibration.slope > 0


def test_calibrated_by_cross_validation_with_text_labels() -> None:
    X, y = data()
    labels = np.where(y == 1, "yes", "no")
    calibrated = CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), ensemble=False).fit(X, labels)
    model = from_sklearn(calibrated)
    assert_allclose(model.probabilities(X), calibrated.predict_proba(X), rtol=1e-9)
    assert_array_equal(model.predict(X), calibrated.predict(X))
    assert model.classes == ("no", "yes")


@pytest.mark.skipif(sklearn_version() < (1, 8), reason="this scikit-learn has no temperature scaling")
def test_calibrated_several_classes_by_temperature() -> None:
    X, y = data(4)
    machine = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC()))
    calibrated = CalibratedClassifierCV(machine, method="temperature", ensemble=False).fit(X, y)
    model = from_sklearn(calibrated)
    assert_allclose(model.probabilities(X), calibrated.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_array_equal(model.predict(X), calibrated.predict(X))


PROBABLE = [
    (LogisticRegression(), 2),
    (LogisticRegression(), 4),
    (LinearDiscriminantAnalysis(), 2),
    (LinearDiscriminantAnalysis(), 4),
    (SGDClassifier(loss="log_loss", random_state=0), 2),
    (OneVsRestClassifier(LogisticRegression()), 2),
]


@pytest.mark.parametrize(("machine", "n_classes"), PROBABLE, ids=str)
def test_probabilities_that_follow_from_the_scores(machine: Any, n_classes: int) -> None:
    machine = fitted(make_pipeline(StandardScaler(), machine), n_classes)
    X, _ = data(n_classes)
    assert_allclose(from_sklearn(machine).probabilities(X), machine.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "machine",
    [
        OneVsRestClassifier(LogisticRegression()),
        SGDClassifier(loss="log_loss", random_state=0),
        SGDClassifier(loss="modified_huber", random_state=0),
    ],
    ids=str,
)
def test_probabilities_that_are_lost_are_named(machine: Any) -> None:
    machine = fitted(make_pipeline(StandardScaler(), machine), 3)
    with pytest.warns(UserWarning, match="but not its probabilities"):
        assert from_sklearn(machine).calibration is None


@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
def test_probabilities_that_fall_where_the_score_rises_are_lost_and_named() -> None:
    """LIBSVM learns such from a few rows at random, by its own cross-validation; the labels are worth keeping."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(14, 3)), np.arange(14) % 2
    machine = SVC(probability=True, random_state=0).fit(X, y)
    assert machine._probA[0] > 0
    with pytest.warns(UserWarning, match="fall where the score rises"):
        model = from_sklearn(machine)
    assert model.calibration is None
    assert_array_equal(model.predict(X), machine.predict(X))


@pytest.mark.filterwarnings("ignore:.*probability.*:FutureWarning")
@pytest.mark.parametrize("machine", [SVC(gamma=0.05), NuSVC(gamma=0.05), SVC(kernel="linear")], ids=str)
def test_svc_with_probabilities(machine: Any) -> None:
    """LIBSVM finds probabilities by an iteration that ends 0.005 before the logistic function, which is ours."""
    machine = make_pipeline(StandardScaler(), clone(machine).set_params(probability=True, random_state=0))
    X, y = data()
    machine.fit(X, y)
    model = from_sklearn(machine)
    assert_allclose(model.probabilities(X), machine.predict_proba(X), atol=0.005)
    A, B = machine[-1]._probA[0], machine[-1]._probB[0]
    expected = 1.0 / (1.0 + np.exp(-A * machine.decision_function(X) + B))  # of the first class
    assert_allclose(model.probabilities(X)[:, 0], expected, rtol=1e-9)
    assert_array_equal(model.predict(X), machine.predict(X))


# ---- What is kept ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "expected"),
    [((-1, 1), (-1, 1)), (("a", "b"), ("a", "b")), ((1.0, 2.0), (1, 2)), ((False, True), (0, 1))],
)
def test_labels(classes: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    X, y = data()
    assert from_sklearn(RidgeClassifier().fit(X, np.array(classes)[y])).classes == expected


def test_feature_names_come_from_the_outermost_estimator() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=[f"sensor {i}" for i in range(8)])
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}, cv=2).fit(frame, y)
    assert from_sklearn(search).card["feature_names"] == list(frame.columns)
    own = make_pipeline(StandardScaler().set_output(transform="pandas"), SVM()).fit(frame, y)
    assert from_sklearn(own).card["feature_names"] == list(frame.columns)
    assert "feature_names" not in from_sklearn(fitted(SVC())).card


def test_card_is_plain_json_and_the_model_survives_its_file() -> None:
    machine = fitted(SVC(C=np.float64(2), class_weight={np.int64(0): 1.5, 1: 1}, random_state=np.random.RandomState(0)))
    model = from_sklearn(machine)
    assert model.card["parameters"]["class_weight"] == {"0": 1.5, "1": 1}
    assert model.card["parameters"]["random_state"] == "RandomState"
    assert json.loads(json.dumps(dict(model.card))) == model.card
    assert SparseModel.from_bytes(model.to_bytes()).sha256 == model.sha256
    infinite = fitted(make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, max_iter=5000)))
    assert from_sklearn(infinite).card["parameters"]["C"] == "inf"


# ---- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "part"),
    [
        (SVC(), "SVC is not fitted"),
        (SVC, "SVC is not fitted"),
        (make_pipeline(StandardScaler(), SVC()), "Pipeline is not fitted"),
        (GridSearchCV(SVC(), {"C": [1]}), "GridSearchCV is not fitted"),
        (make_pipeline(StandardScaler(), SVC().fit(*data())), "StandardScaler is not fitted"),
        (None, "NoneType cannot be converted"),
        ("model.pkl", "str cannot be converted"),
        (LinearRegression(), "LinearRegression is not fitted"),
        (BayesianRidge(), "BayesianRidge cannot be converted"),
        (RandomForestClassifier(), "RandomForestClassifier cannot be converted"),
    ],
)
def test_unfitted_and_unknown(estimator: Any, part: str) -> None:
    with pytest.raises(OptionError, match=part):
        from_sklearn(estimator)


@pytest.mark.parametrize(
    ("estimator", "n_classes", "part"),
    [
        (SVC(break_ties=True), 3, "fit it with break_ties=False"),
        pytest.param(
            CalibratedClassifierCV(SVC(), ensemble=False, method="temperature", cv=2),
            3,
            "calibrate OneVsRestClassifier",
            marks=pytest.mark.skipif(sklearn_version() < (1, 8), reason="this scikit-learn has no temperature scaling"),
        ),
        (SVC(kernel="sigmoid"), 2, "kernel 'sigmoid'"),
        (SVC(kernel=lambda a, b: a @ b.T), 2, "a Python function"),
        (SVC(kernel="poly", coef0=-1), 2, "coef0"),
        (make_pipeline(Normalizer(), SVC()), 2, "Normalizer in a pipeline cannot be folded"),
        (make_pipeline(PolynomialFeatures(), LinearSVC()), 2, "PolynomialFeatures"),
        (make_pipeline(MinMaxScaler(clip=True), SVC()), 2, "clip=False"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), 2, "RandomForestClassifier"),
        (make_pipeline(StandardScaler(), "passthrough"), 2, "str cannot be converted"),
        (GridSearchCV(SVC(), {"C": [1]}, cv=2, refit=False), 2, "refit=True"),
        (CalibratedClassifierCV(SVC(), cv=2), 2, "ensemble=False"),
        (CalibratedClassifierCV(SVC(), ensemble=False, method="isotonic", cv=2), 2, "isotonic"),
        (CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2), 3, "3 classes"),
        (OneVsRestClassifier(RandomForestClassifier(5)), 3, "RandomForestClassifier"),
        (OneVsRestClassifier(CalibratedClassifierCV(SVC(), ensemble=False, cv=2)), 3, "calibrate OneVsRestClassifier"),
        (
            CalibratedClassifierCV(CalibratedClassifierCV(SVC(), ensemble=False, cv=2), ensemble=False, cv=2),
            2,
            "calibrate once",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_refused_with_a_sentence(estimator: Any, n_classes: int, part: str) -> None:
    machine = fitted(estimator, n_classes)
    with pytest.raises(OptionError, match=part) as caught:
        from_sklearn(machine)
    assert "\n" not in str(caught.value)


def test_one_vs_rest_machines_that_share_nothing() -> None:
    machine = fitted(OneVsRestClassifier(SVC(gamma=0.1)), 3)
    machine.estimators_[1]._gamma = 0.2
    with pytest.raises(OptionError, match="differ in kernel or scaling"):
        from_sklearn(machine)


def test_several_labels_per_row() -> None:
    X, y = data(3)
    machine = OneVsRestClassifier(SVC()).fit(X, np.eye(3, dtype=int)[y])
    with pytest.raises(OptionError, match="several labels per row"):
        from_sklearn(machine)


def test_public_name() -> None:
    assert sparsegen.from_sklearn is from_sklearn
