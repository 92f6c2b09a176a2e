"""A network of one hidden layer through emlearn, in float32: the widest that fits the flash.

The scaling in front of it is folded into its first layer, so it reads raw features as our C does.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from sparsegen.errors import SparsegenError
from sparsegen.report.baselines.contest import Baseline, Contest, failed
from sparsegen.report.baselines.emlearn_code import PREFIX, emlearn_export, load_emlearn
from sparsegen.report.baselines.peer_code import FLOAT
from sparsegen.targets import Export

MOST_HIDDEN = 64
FLOAT_BYTES = 4
ITERATIONS = 400
TRIES = 4


def network(contest: Contest) -> Baseline:
    """Return the network."""
    baseline = Baseline("small neural network, emlearn", "")
    try:
        hidden = _most_hidden(contest, _bytes_of_code(contest))
        if hidden < 1:
            return replace(baseline, remark="no network of this kind fits the flash")
        return _fitting(contest, baseline, hidden)
    except SparsegenError as error:
        return failed(baseline, error)


def _made(contest: Contest, hidden: int, iterations: int = ITERATIONS) -> Any:
    """Return the trained network, its scaling folded into the first layer, as float32 holds it."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(contest.X)
    made = MLPClassifier((hidden,), max_iter=iterations, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small networks go on improving after the last iteration
        made.fit(scaler.transform(contest.X), contest.y)
    weights = made.coefs_[0] / scaler.scale_[:, None]
    made.intercepts_[0] = made.intercepts_[0] - scaler.mean_ @ weights
    made.coefs_[0] = weights
    return made


def _export(contest: Contest, made: Any) -> Export:
    net = load_emlearn().net
    activations = [made.activation] * (len(made.coefs_) - 1) + [made.out_activation_]
    code = net.c_generate_net_loadable(activations, made.coefs_, made.intercepts_, PREFIX)
    return emlearn_export((contest.X.shape[1], contest.n_classes), code)


def _bytes_of_code(contest: Contest) -> float:
    """Return what emlearn's code takes beside the weights, from a network of one unit that is built."""
    made = _made(contest, 1, iterations=1)
    rows = contest.X[:2].astype(FLOAT)
    cost = contest.cost(_export(contest, made), rows)
    return float(cost.measurement.flash or 0) - FLOAT_BYTES * _weights(contest, 1)


def _weights(contest: Contest, hidden: int) -> int:
    outputs = 1 if contest.n_classes == 2 else contest.n_classes
    return hidden * (int(contest.X.shape[1]) + 1) + outputs * (hidden + 1)


def _most_hidden(contest: Contest, code: float) -> int:
    fitting = (h for h in range(1, MOST_HIDDEN + 1) if code + FLOAT_BYTES * _weights(contest, h) <= contest.flash)
    return max(fitting, default=0)


def _fitting(contest: Contest, baseline: Baseline, hidden: int) -> Baseline:
    """Return the network, with fewer units until it fits as measured."""
    test = contest.tests.astype(FLOAT)
    for _ in range(TRIES):
        made = _made(contest, hidden)
        export = _export(contest, made)
        cost = contest.cost(export, test)
        flash = cost.measurement.flash
        if flash is None or flash <= contest.flash or hidden == 1:
            break
        hidden -= 1
    accuracy, remark = contest.judge(export, test, made.predict(test.astype(np.float64)))
    return replace(baseline, setting=f"{hidden} hidden units, float32", accuracy=accuracy, cost=cost, remark=remark)
