"""Everything that may stand in front of a classifier: the model takes raw rows and decides as the pipeline does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from sparsegen import SparseModel, from_sklearn
from sparsegen.errors import ModelError, OptionError
from sparsegen.model.transform import source_of
from sparsegen.verify import verify

NAMES = tuple("abcdefgh")


def data(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(200, 7, n_informative=5, n_redundant=1, n_classes=n_classes, random_state=0)
    X = X * np.array([1, 10, 0.1, 3, 1, 1, 5]) + np.array([0, 50, 1, -3, 0, 2, 0])
    return np.hstack([X, np.full((200, 1), 4.0)]), y


def same(estimator: Any, n_classes: int = 2, X: Any = None) -> SparseModel:
    """Return the model of the estimator fitted on half of the rows; it must decide the same on all of them."""
    raw, y = data(n_classes)
    X = raw if X is None else X
    fitted = clone(estimator).fit(X[:100], y[:100])
    model = from_sklearn(fitted)
    expected = fitted.decision_function(X).reshape(len(raw), -1)
    assert_allclose(model.scores(raw), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_array_equal(model.predict(raw), fitted.predict(X))
    return model


SELECTORS = [
    VarianceThreshold(),
    SelectKBest(k=3),
    SelectFromModel(LinearSVC(random_state=0), max_features=4),
    RFE(LogisticRegression(), n_features_to_select=3),
]


QUIET = pytest.mark.filterwarnings("ignore:Features .* are constant", "ignore:invalid value")


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("machine", [SVC(gamma=0.05), LogisticRegression()], ids=str)
@QUIET
def test_selected_features(selector: Any, machine: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), selector, StandardScaler(), machine)
    model = same(pipeline)
    X, y = data()
    kept = clone(pipeline).fit(X[:100], y[:100])[1].get_support()
    assert 0 < kept.sum() < 8
    changed = np.where(kept, X, 1e6 * np.random.default_rng(0).normal(size=X.shape))
    assert_array_equal(model.scores(changed), model.scores(X))  # what was not selected makes no difference at all


@QUIET
def test_all_features_selected_need_no_projection() -> None:
    assert same(make_pipeline(SelectKBest(k="all"), SVC())).transform.projection is None


@pytest.mark.parametrize(
    "front",
    [(TruncatedSVD(4, random_state=0), StandardScaler()), (IncrementalPCA(3, whiten=True),), (FunctionTransformer(),)],
    ids=str,
)
def test_linear_maps(front: tuple[Any, ...]) -> None:
    same(make_pipeline(StandardScaler(), *front, SVC()))


def test_a_row_of_enormous_weights_hides_no_other() -> None:
    """Whitening divides by next to nothing where a component does not vary; a pseudo-inverse would drop the rest."""
    assert_allclose(source_of(np.array([2.0, 3.0]), np.diag([1e17, 1.0])), [2e-17, 3.0], rtol=1e-12)


COLUMNS = {
    "scaled and passed through": ([("s", StandardScaler(), [0, 3])], "passthrough"),
    "the rest is dropped": ([("s", StandardScaler(), [5, 0]), ("p", "passthrough", [2])], "drop"),
    "projected": ([("p", make_pipeline(StandardScaler(), PCA(2)), slice(1, 5)), ("m", MinMaxScaler(), [6, 0])], "drop"),
    "mask": ([("s", StandardScaler(), [True, False] * 4), ("d", "drop", [1])], MinMaxScaler()),
    "function of the columns": ([("s", MinMaxScaler(), lambda X: [4, 1])], "passthrough"),
    "negative": ([("s", MinMaxScaler(), [-2, 0]), ("n", make_pipeline("passthrough"), [1])], "drop"),
    "twice": ([("s", StandardScaler(), [0, 1, 2]), ("p", PCA(1), [1, 2, 3])], "drop"),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("behind", [(), (StandardScaler(), PCA(2))], ids=["", "pca"])
def test_columns(name: str, behind: tuple[Any, ...]) -> None:
    blocks, rest = COLUMNS[name]
    same(make_pipeline(ColumnTransformer(blocks, remainder=rest), *behind, SVC(gamma=0.05)))


def test_column_weights() -> None:
    columns = ColumnTransformer(
        [("a", StandardScaler(), [0, 1]), ("b", "passthrough", [2, 5])], transformer_weights={"a": 3.0}
    )
    same(make_pipeline(columns, SVC(gamma=0.05)))


@pytest.mark.parametrize("chosen", [["b", "a"], slice("b", "d"), "c"], ids=str)
def test_columns_of_a_frame_by_name(chosen: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data()[0], columns=list(NAMES))
    chosen = [chosen] if isinstance(chosen, str) else chosen
    columns = make_column_transformer((StandardScaler(), chosen), (MinMaxScaler(), ["g"]), remainder="passthrough")
    search = GridSearchCV(make_pipeline(columns, SVC(gamma=0.05)), {"svc__C": [1.0, 2.0]}, cv=2)
    assert same(search, X=frame).card["feature_names"] == list(NAMES)


def test_columns_that_overlap_without_room_for_a_shift_are_refused() -> None:
    X, y = data()
    columns = ColumnTransformer([("a", StandardScaler(), [0]), ("b", StandardScaler(), [0])])
    fitted = make_pipeline(columns, StandardScaler(), SVC()).fit(X, y)
    fitted[1].mean_ = np.array([1.0, -1.0])  # the two copies would have to be shifted apart
    with pytest.raises(ModelError, match="use each feature once"):
        from_sklearn(fitted)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "polynomial", "linear"])
@pytest.mark.parametrize("machine", [LinearSVC(random_state=0), LogisticRegression()], ids=str)
def test_nystroem(kernel: str, machine: Any) -> None:
    nystroem = Nystroem(kernel, n_components=12, random_state=0)
    model = same(make_pipeline(StandardScaler(), nystroem, StandardScaler(), machine), 3)
    assert model.n_vectors == 12
    assert model.kernels[0].name == kernel.removesuffix("nomial")


def test_nystroem_with_parameters() -> None:
    for nystroem in (Nystroem("poly", gamma=0.5, coef0=2.0, degree=2), Nystroem("rbf", kernel_params={"gamma": 0.3})):
        same(make_pipeline(MinMaxScaler(), nystroem.set_params(n_components=9, random_state=0), LogisticRegression()))


def test_nystroem_keeps_probabilities() -> None:
    X, y = data(3)
    fitted = make_pipeline(StandardScaler(), Nystroem(n_components=9, random_state=0), LogisticRegression()).fit(X, y)
    assert_allclose(from_sklearn(fitted).probabilities(X), fitted.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("pipeline", "part"),
    [
        (make_pipeline(FunctionTransformer(np.abs), SVC()), "runs a Python function"),
        (make_pipeline(RBFSampler(random_state=0), LogisticRegression()), "use Nystroem"),
        (make_pipeline(KNNImputer(), StandardScaler(), SVC()), "use SimpleImputer"),
        (make_pipeline(ColumnTransformer([("i", KNNImputer(), [0])]), SVC()), "use SimpleImputer"),
        (make_pipeline(SimpleImputer(missing_values=0.5), SVC()), "something else than NaN for missing"),
        (make_pipeline(SimpleImputer(missing_values=99), SVC()), "something else than NaN for missing"),
        (make_pipeline(SimpleImputer(add_indicator=True), SVC()), "adds a column for each with gaps"),
        (make_pipeline(PCA(3), SimpleImputer(), SVC()), "fill them in before it"),
        (
            make_pipeline(make_column_transformer((SimpleImputer(), [0, 1]), ("passthrough", [2, 3])), SVC()),
            "fills missing values in some of its columns only",
        ),
        (
            make_pipeline(
                make_column_transformer((SimpleImputer(), [0]), (SimpleImputer(strategy="median"), [0])), SVC()
            ),
            "fills a column with two different numbers",
        ),
        (make_pipeline(Nystroem(n_components=5), SVC()), "in front of a linear classifier"),
        (make_pipeline(Nystroem("cosine", n_components=5), LogisticRegression()), "kernel 'cosine'"),
        (
            make_pipeline(ColumnTransformer([("n", Nystroem(n_components=5), [0, 1])]), LogisticRegression()),
            "no linear map of its columns",
        ),
        (make_pipeline(ColumnTransformer([("f", FunctionTransformer(np.abs), [0])]), SVC()), "runs a Python function"),
        (make_pipeline(SelectFromModel(RandomForestClassifier(3), threshold=2.0), SVC()), "selected no feature"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_refused_with_a_sentence(pipeline: Any, part: str) -> None:
    X, y = data()
    if part == "selected no feature":
        front = clone(pipeline[0]).fit(X, y)
        pipeline = make_pipeline(front, SVC().fit(X[:, :1], y))
    else:
        pipeline.fit(X, y)
    with pytest.raises((OptionError, ModelError), match=part) as caught:
        from_sklearn(pipeline)
    assert "\n" not in str(caught.value)


def with_gaps() -> np.ndarray:
    X = data()[0].round(1)  # some values more often than others, for the most frequent
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize(
    "front",
    [
        *(make_pipeline(SimpleImputer(strategy=s), StandardScaler()) for s in ("mean", "median", "most_frequent")),
        make_pipeline(SimpleImputer(strategy="constant", fill_value=-3), MinMaxScaler()),
        make_pipeline(StandardScaler(), SimpleImputer(), StandardScaler()),
        make_pipeline(SimpleImputer(), PCA(4)),
        make_pipeline(VarianceThreshold(), StandardScaler(), SimpleImputer(strategy="median")),
        make_pipeline(SimpleImputer(strategy="median"), SimpleImputer()),
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), [5, 1, 0]), (SimpleImputer(strategy="median"), [2, 3])
        ),
        make_pipeline(
            make_column_transformer((MinMaxScaler(), [4, 0]), ("passthrough", [2, 3])), SimpleImputer(), PCA(2)
        ),
        make_pipeline(make_column_transformer((SimpleImputer(), [0, 1]), (SimpleImputer(), [1, 2])), StandardScaler()),
    ],
    ids=lambda front: "",
)
@QUIET
def test_a_nan_counts_as_what_the_imputer_puts_in_its_place(front: Any) -> None:
    X, y = with_gaps(), data()[1]
    fitted = make_pipeline(front, SVC(gamma=0.1)).fit(X[:100], y[:100])
    model = from_sklearn(fitted)
    assert_allclose(model.scores(X)[:, 0], fitted.decision_function(X), rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(X), fitted.predict(X))
    assert SparseModel.from_bytes(model.to_bytes()) == model


def test_a_feature_without_any_number_is_refused() -> None:
    X, y = with_gaps(), data()[1]
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="without any observed values"):
        fitted = make_pipeline(SimpleImputer(), SVC()).fit(X, y)
    with pytest.raises(OptionError, match="without any number in feature 3"):
        from_sklearn(fitted)
    kept = make_pipeline(SimpleImputer(keep_empty_features=True), SVC()).fit(X, y)
    assert_array_equal(from_sklearn(kept).predict(X), kept.predict(X))


def test_machines_that_fill_in_different_numbers_share_no_vectors() -> None:
    X, y = with_gaps(), np.arange(200) % 3
    fitted = OneVsRestClassifier(make_pipeline(SimpleImputer(), SVC(gamma=0.1))).fit(X, y)
    assert_allclose(from_sklearn(fitted).scores(X), fitted.decision_function(X), rtol=1e-9, atol=1e-9)
    fitted.estimators_[1].named_steps["simpleimputer"].statistics_ += 1.0
    with pytest.raises(OptionError):
        from_sklearn(fitted)


@pytest.mark.parametrize("dtype", ["f32", "q15"])
def test_columns_and_nystroem_in_c(dtype: str) -> None:
    """The shapes of transform that only these make: a projection with rows of one 1, and one of a few columns."""
    from sparsegen.lowering.formats import Format

    X, y = data(3)
    columns = ColumnTransformer([("s", make_pipeline(StandardScaler(), SelectKBest(k=2)), [0, 1, 2])], remainder="drop")
    machine = make_pipeline(columns, Nystroem(n_components=6, random_state=0), LogisticRegression()).fit(X, y)
    model = from_sklearn(machine)
    numbers = Format(dtype) if dtype == "f32" else Format(dtype, rows=X)
    (verdict,) = verify(model, X[:50], devices=["host"], numbers=numbers)
    assert verdict.agrees, verdict
