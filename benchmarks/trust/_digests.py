"""Train and export a fixed list of things and print the hash of each as JSON: what determinism.py runs in processes."""

from __future__ import annotations

import argparse
import hashlib
import json
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.methods import classifiers
from sparsegen.targets import TARGETS
from sparsegen.training.train import train

SMALL = {"n_vectors": 8, "max_iter": 6, "gamma": 0.05}
EXPORTED = "slmc"
EXPORTS = (("c", FLOAT32), ("c", Format("q15")), ("c", Format("q7", "raw-uint8")), ("arduino", Format("q7")))
FLOAT_EXPORTS = ("onnx", "cmake", "header")


def digits(rows: int, seed: int) -> Dataset:
    """Return some rows of scikit-learn's digits, as wide as it takes for BLAS to use threads."""
    from sklearn.datasets import load_digits

    whole: Any = load_digits()
    chosen = np.random.default_rng(seed).permutation(len(whole.data))[:rows]
    return data.from_arrays(whole.data[chosen], whole.target[chosen] % 3, source="digits")


def digests(methods: Sequence[str], rows: int, seed: int) -> dict[str, str]:
    """Return the hash of every trained model and of every export."""
    train_set, test_set = data.split(digits(rows, seed), 0.25, seed)
    found: dict[str, str] = {}
    for name in methods:
        known = classifiers()[name]().get_params()
        parameters = {key: value for key, value in SMALL.items() if key in known}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # short descents do not converge
            model = train(train_set, test_set, method=name, scale="none", seed=seed, parameters=parameters).model
        found[f"train {name}"] = _hash({"": model.to_bytes()})
        if name == EXPORTED:
            for target, numbers in (*EXPORTS, *((target, FLOAT32) for target in FLOAT_EXPORTS)):
                files = TARGETS[target].export(model, "m", numbers).files
                found[f"export {target} {numbers.dtype} {numbers.input}"] = _hash(files)
    return found


def digests_at_once(methods: Sequence[str], rows: int, seed: int, n_threads: int = 2) -> dict[str, str]:
    """Return the same, computed in Python threads that run at once; where they disagree all hashes are given."""
    found: list[dict[str, str]] = []
    run = partial(digests, methods, rows, seed)
    threads = [threading.Thread(target=lambda: found.append(run())) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) != n_threads:
        raise RuntimeError("a thread failed")
    return {what: " ".join(sorted({each[what] for each in found})) for what in found[0]}


def _hash(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--methods", nargs="+", default=[*classifiers()])
    options.add_argument("--rows", type=int, default=300)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--at-once", action="store_true", help="in two Python threads at once")
    chosen = options.parse_args()
    compute = digests_at_once if chosen.at_once else digests
    print(json.dumps(compute(chosen.methods, chosen.rows, chosen.seed)))
