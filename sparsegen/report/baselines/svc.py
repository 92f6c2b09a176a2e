"""scikit-learn's SVC, tuned and trained on the same rows, exported by us in the same number format."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sparsegen.bench import bench_exports
from sparsegen.devices import thin
from sparsegen.errors import SparsegenError
from sparsegen.lowering.formats import Format, IntegerFormat
from sparsegen.report.baselines.contest import Baseline, Contest, failed
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.verify import Exports

C_VALUES = (1.0, 10.0, 100.0)
GAMMA_FACTORS = (0.3, 1.0, 3.0)
FOLDS = 3
TUNED_ROWS = 1000
MEASURED_ROWS = 2
"""Its rows take much the same time each, and an emulator long for so many vectors."""


def svc(contest: Contest, numbers: Format) -> Baseline:
    """Return the SVC: C and gamma by cross-validation on (some of) the training rows."""
    machine = _tuned(contest)
    model = from_sklearn(machine)
    kernel = machine[-1]
    setting = f"{model.n_vectors:,} support vectors, C {kernel.C:g}, gamma {kernel.gamma:.3g}"
    given = machine.predict(contest.tests)
    baseline = Baseline("scikit-learn SVC, exported by sparsegen", setting, contest.accuracy(given))
    wanted = replace(numbers, early_exit=False, reject=None, rows=None, labels=None)
    if isinstance(wanted.numbers, IntegerFormat):
        wanted = replace(wanted, rows=contest.X)
    try:
        exports = Exports(model, "c", "svc", wanted)
        baseline = replace(
            baseline,
            accuracy=contest.accuracy(np.array(model.classes)[exports.lowered.reference(contest.tests).labels]),
            least_flash=exports["portable"].table_bytes,
        )
        rows = thin(contest.tests, MEASURED_ROWS)
        (cost,) = bench_exports(exports, rows, [contest.device], profile=contest.profile)
    except SparsegenError as error:
        return failed(baseline, error)
    return replace(baseline, cost=cost)


def _tuned(contest: Contest) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    kept = thin(np.arange(len(contest.X)), TUNED_ROWS)
    X, y = contest.X[kept], contest.y[kept]
    grid = {"svc__C": C_VALUES, "svc__gamma": [factor / X.shape[1] for factor in GAMMA_FACTORS]}
    pipeline = make_pipeline(StandardScaler(), SVC())
    if np.bincount(y)[np.unique(y)].min() >= FOLDS:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        pipeline.set_params(**GridSearchCV(pipeline, grid, cv=folds, refit=False).fit(X, y).best_params_)
    return pipeline.fit(contest.X, contest.y)
