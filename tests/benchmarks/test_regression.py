"""The comparison with SVR runs, and its figures are of the rows that it names."""

from __future__ import annotations

import json

from benchmarks import regression


def test_machines_are_compared_on_the_same_folds() -> None:
    found = json.loads(regression.main(["--sets", "sinc", "--rows", "60", "--json"]))
    of = {one["machine"]: one for one in found}
    assert list(of) == ["SVR", "KernelRidge", "linear ridge", "slmr, a tenth", "slmr, 8 vectors"]
    assert of["KernelRidge"]["n_vectors"] == 48
    assert of["slmr, a tenth"]["n_vectors"] <= of["SVR"]["n_vectors"] / 10 + 1
    assert of["slmr, 8 vectors"]["r2"] > of["linear ridge"]["r2"] + 0.5
    table = regression.main(["--sets", "sinc", "--rows", "30"])
    assert table.count("| sinc |") == 5
