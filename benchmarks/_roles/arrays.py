"""The data scientist in Python: frames and matrices, every method, scikit-learn's estimators, LIBSVM's machines."""

from __future__ import annotations

import html
import importlib
import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sparsegen
from benchmarks._roles import rows
from benchmarks._roles.visit import Skip, Visit
from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.devices import DEVICES
from sparsegen.methods import classifiers
from sparsegen.promised import percent

LINE = "--vectors 6 --C 1"


def visit(scientist: Visit) -> None:
    """From arrays to models."""
    X, y = rows.blobs(scientist.seed, 240)
    names = np.array(["one", "three", "two"])[y]
    _inputs(scientist, X, names)
    _methods(scientist, X[:60], names[:60])
    for asked, make in _estimators().items():
        with scientist.wish(asked):
            scientist.sees(asked, *_converted(make(), X, names))
    _refusals(scientist, X, names)
    _compress(scientist, X, y)
    _verbs(scientist, X, names)


def _inputs(scientist: Visit, X: Array, y: Any) -> None:
    with scientist.wish("a data frame, a sparse matrix, float32"):
        import pandas
        from scipy.sparse import csr_matrix

        frame = data.from_arrays(pandas.DataFrame(X, columns=list("abcd")), y)
        scientist.sees(
            "a data frame", f"features {', '.join(frame.feature_names)}", frame.feature_names == tuple("abcd")
        )
        dense = data.from_arrays(csr_matrix(X), y).X
        scientist.sees("a sparse matrix", f"{dense.shape} made dense", bool(np.array_equal(dense, X)))
        single = X.astype(np.float32)
        machine = sparsegen.SLMC(n_vectors=6, gamma=0.2, random_state=0).fit(single, y)
        scientist.sees(
            "float32 rows", f"{percent(machine.score(single, y))} of them recognised", machine.score(single, y) > 0.7
        )


def _methods(scientist: Visit, X: Array, y: Any) -> None:
    weight = np.where(y == "one", 3.0, 1.0)
    shapes, weighed = [], []
    with scientist.wish("probabilities, class and sample weights of every method"):
        for name, method in classifiers().items():
            of = method(random_state=0, probability=True, class_weight="balanced").fit(X, y, sample_weight=weight)
            found = of.predict_proba(X)
            shapes.append(found.shape == (60, 3) and np.allclose(found.sum(axis=1), 1.0))
            weighed.append(name)
        told = f"predict_proba, class_weight and sample_weight of {len(weighed)} methods: {', '.join(weighed)}"
        scientist.sees("probabilities, class and sample weights of every method", told, all(shapes))
    offered = [classifiers()[name].__name__ for name in classifiers()]
    listed = [name for name in dir(sparsegen) if name in offered]
    told = f"{len(listed)} of {len(offered)}, among them {', '.join(listed[:3])}"
    scientist.sees("dir(sparsegen) shows every method", told, sorted(listed) == sorted(offered))


def _estimators() -> dict[str, Callable[[], Any]]:
    """Return what makes each unfitted estimator of the table, by what is asked."""
    from sklearn import (
        compose,
        decomposition,
        feature_selection,
        kernel_approximation,
        linear_model,
        model_selection,
        pipeline,
        preprocessing,
        svm,
    )

    scaled, chain = preprocessing.StandardScaler, pipeline.make_pipeline
    columns = [("left", scaled(), [0, 1]), ("right", "passthrough", [2, 3])]
    return {
        "SVC of three classes, by votes": lambda: svm.SVC(gamma=0.3),
        "NuSVC of three classes": lambda: svm.NuSVC(gamma=0.3, nu=0.3),
        "LinearSVC": lambda: svm.LinearSVC(),
        "LogisticRegression": lambda: linear_model.LogisticRegression(),
        "RidgeClassifier": lambda: linear_model.RidgeClassifier(),
        "SGDClassifier": lambda: linear_model.SGDClassifier(random_state=0),
        "Nystroem and a linear machine": lambda: chain(
            kernel_approximation.Nystroem(gamma=0.2, n_components=12, random_state=0), svm.LinearSVC()
        ),
        "a ColumnTransformer of a scaler and passthrough": lambda: chain(
            compose.ColumnTransformer(columns), svm.SVC(gamma=0.3)
        ),
        "PCA and a selector": lambda: chain(
            scaled(), feature_selection.SelectKBest(k=3), decomposition.PCA(2), svm.SVC(gamma=0.3)
        ),
        "a pipeline in a search in a pipeline": lambda: chain(
            scaled(),
            model_selection.GridSearchCV(chain(scaled(), svm.SVC(gamma=0.3)), {"svc__C": [1.0, 10.0]}, cv=3),
        ),
    }


def _converted(estimator: Any, X: Array, y: Any) -> tuple[str, bool]:
    """Return whether the model gives the estimator's labels, and its probabilities if it has some."""
    fitted = estimator.fit(X[:180], y[:180])
    model = sparsegen.from_sklearn(fitted)
    same = int(np.sum(model.predict(X) == fitted.predict(X)))
    told, fine = f"{same} of {len(X)} labels are scikit-learn's; {model.n_vectors} vectors", same == len(X)
    if model.calibration is None:
        return told, fine
    off = float(np.abs(model.probabilities(X) - fitted.predict_proba(X)).max())
    return f"{told}, probabilities within {off:.0e}", fine and off < 0.01


def _refusals(scientist: Visit, X: Array, y: Any) -> None:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVC

    two = y != "three"
    asked = "probabilities of a calibrated SVC are kept"
    with scientist.wish(asked):
        calibrated = CalibratedClassifierCV(SVC(gamma=0.3), ensemble=False, cv=3)
        scientist.sees(asked, *_converted(calibrated, X[two], y[two]))
    asked = "SimpleImputer on the device"
    with scientist.wish(asked):
        gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        told, same = _converted(make_pipeline(SimpleImputer(), SVC(gamma=0.3)), gaps, y)
        model = sparsegen.from_sklearn(make_pipeline(SimpleImputer(), SVC(gamma=0.3)).fit(gaps, y))
        (verdict,) = model.verify(gaps, device="host")
        scientist.sees(asked, f"{told}, a tenth of the values being NaN; {verdict}", same and verdict.ok)
    for asked, step, says in (
        ("KNNImputer", KNNImputer(), "KNNImputer looks for rows.*use SimpleImputer"),
        ("RBFSampler", RBFSampler(random_state=0), "RBFSampler"),
    ):
        fitted = make_pipeline(step, LinearSVC()).fit(X, y)
        scientist.refused(asked, partial(sparsegen.from_sklearn, fitted), says)


def _compress(scientist: Visit, X: Array, y: Any) -> None:
    from sklearn.svm import SVC

    table = [[*np.round(row, 4), k] for row, k in zip(X, y, strict=True)]
    rows.write(Path("blobs.csv"), ["a", "b", "c", "d", "class"], table)
    machine = SVC(gamma=0.2).fit(np.round(X, 4), y)
    sparsegen.from_sklearn(machine).save("svm.safetensors")
    Path("svm.model").write_bytes(_libsvm(machine))
    tell = r"\d+ -> 6.*?points"
    for asked, name in (("compress a converted SVC", "svm.safetensors"), ("compress a file of LIBSVM", "svm.model")):
        scientist.types(asked, f"compress {name} {LINE} --data blobs.csv -o small.safetensors --force", tell)
    for method in ("rs", "mrs"):
        scientist.types(
            f"compress --method {method}, from a fitted SVM",
            f"compress svm.safetensors --method {method} --vectors 6 --data blobs.csv -o small.safetensors --force",
            tell,
        )
    asked = "compress an SVMClassifier of ONNX"
    with scientist.wish(asked):
        if importlib.util.find_spec("skl2onnx") is None:
            raise Skip("skl2onnx is not installed")
        from skl2onnx import to_onnx

        Path("svm.onnx").write_bytes(to_onnx(machine, X[:1].astype(np.float32)).SerializeToString())
        scientist.types(asked, f"compress svm.onnx {LINE} --data blobs.csv -o small.safetensors --force", tell)


def _libsvm(machine: Any) -> bytes:
    """Return what svm-train would have saved of a machine with a Gaussian kernel and three classes or more."""
    lines = ["svm_type c_svc", "kernel_type rbf", f"gamma {float(machine.gamma)!r}"]
    lines += [f"nr_class {len(machine.classes_)}", f"total_sv {len(machine.support_)}"]
    lines += ["rho " + " ".join(repr(float(-b)) for b in machine.intercept_)]
    lines += ["label " + " ".join(map(str, machine.classes_)), "nr_sv " + " ".join(map(str, machine.n_support_)), "SV"]
    for coef, vector in zip(machine.dual_coef_.T, machine.support_vectors_, strict=True):
        pairs = [f"{j + 1}:{float(v)!r}" for j, v in enumerate(vector) if v]
        lines.append(" ".join([*(repr(float(c)) for c in coef), *pairs]))
    return ("\n".join(lines) + "\n").encode()


def _verbs(scientist: Visit, X: Array, y: Any) -> None:
    with scientist.wish("a model's verbs"):
        model = sparsegen.SLMC(n_vectors=6, gamma=0.2, random_state=0).fit(X, y).model_
        scientist.sees("its repr", repr(model), repr(model).startswith("<SparseModel slmc: 6 vectors"))
        card = model._repr_html_()
        scientist.sees(
            "its card in a notebook",
            f"{len(card)} characters of HTML",
            html.escape("6 vectors") in card or "vectors" in card,
        )
        made = model.export("arduino", "folder", dtype="q7", rows=X, labels=y)
        scientist.sees("model.export('arduino', 'folder')", repr(made), Path("folder/library.properties").is_file())
        scientist.sees("model.inspect()", f"{len(model.inspect())} facts", "vectors" in model.inspect())
        if missing := DEVICES["host"].missing():
            raise Skip(missing)
        verdict = model.verify(X, y, device="host", dtype="q7", rows=X)
        scientist.sees("model.verify(X, y, device='host')", verdict, verdict.ok)
        scientist.sees("model.bench(device='host')", model.bench(device="host"))
    with scientist.wish("skops keeps a fitted estimator"):
        if importlib.util.find_spec("skops") is None:
            raise Skip("skops is not installed")
        fitted = sparsegen.SLMC(n_vectors=6, gamma=0.2, random_state=0).fit(X, y)
        skops: Any = importlib.import_module("skops.io")
        packed = skops.dumps(fitted)
        again = skops.loads(packed, trusted=skops.get_untrusted_types(data=packed))
        scientist.sees(
            "skops keeps a fitted estimator", "same labels", bool((again.predict(X) == fitted.predict(X)).all())
        )
