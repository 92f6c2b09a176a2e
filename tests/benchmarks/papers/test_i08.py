from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import _ida
from benchmarks.papers import TABLES, _timing, i08, i08_eta, i08_times
from benchmarks.papers._i08_claims import Cell, inputs_claim, rbf_claims, same_claim
from benchmarks.papers._i08_machines import build, scaled_split
from benchmarks.papers._i08_printed import L1, L1_SECONDS, L2, L2_SECONDS, LINEAR, LINEAR_SECONDS, Printed
from benchmarks.papers._lab import Lab
from benchmarks.papers._squared_hinge import SquaredHingeSVM
from sparsegen.errors import DataError

SETS = ("banana", "waveform")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab on two tiny sets, with tiny grids."""
    rng = np.random.default_rng(0)
    (tmp_path / "ida").mkdir()
    for name in SETS:
        X = rng.normal(size=(90, 3)).astype(np.float32)
        y = np.where(X[:, 0] + 0.3 * rng.normal(size=90) > 0, 1, -1).astype(np.int8)
        splits = np.array([rng.permutation(90) for _ in range(3)]).astype(np.uint16)
        path = tmp_path / "ida" / f"{name}.npz"
        np.savez(path, X=X, y=y, train=splits[:, :60], test=splits[:, 60:], origin=np.array([1, 0, 0]))
    monkeypatch.setattr(i08, "C_VALUES", (1, 10))
    monkeypatch.setattr(i08, "LARGEST_C", 100)
    monkeypatch.setattr(i08, "GAMMA_VALUES", (0.5, 15))
    monkeypatch.setattr(i08, "N_SELECTION", 1)
    for table, printed in (("L1", L1), ("L2", L2)):
        for module in (i08, i08_eta):
            monkeypatch.setattr(module, table, {name: printed[name] for name in SETS})
    monkeypatch.setattr(i08, "LINEAR", {name: LINEAR[name] for name in SETS})
    return Lab(tmp_path, tmp_path / "store", splits=2)


@pytest.mark.parametrize(
    ("table", "figures", "n_rows"),
    [
        ("i08-linear", "| banana | NOSV | 47.1 |", 6),
        ("i08-l1", "| banana | sparse L1 SVM | 10.9 |", 4),
        ("i08-l2", "| waveform | L2 SVM | 9.8 |", 4),
    ],
)
def test_table_shows_the_papers_figures_and_is_computed_once(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, figures: str, n_rows: int
) -> None:
    monkeypatch.setattr(i08, "ETA_VALUES", (0.5, 0.1))
    section = TABLES[table](lab, tmp_path)
    assert figures in section.body
    assert section.body.count("±") == 2 * n_rows
    assert len(section.checks) == 2 * n_rows
    missed = {check.cell for check in section.checks if check.kind == "error" and not check.within}
    assert {(cell, "error") for cell in missed} <= section.reasons.keys()
    monkeypatch.setattr(i08, "build", None)
    assert TABLES[table](lab, tmp_path) == section


def test_curves_of_eta(lab: Lab, tmp_path: Path) -> None:
    section = TABLES["i08-eta"](lab, tmp_path)
    (plot,) = section.plots
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert plot.stat().st_size < 80_000
    vectors = [int(line.split(" | ")[2]) for line in section.body.splitlines()[2:8]]
    assert vectors == sorted(vectors)
    assert vectors[0] < vectors[-1]
    count = lab.map(i08.count_rows, [{"name": "banana", "position": 0, "gamma": 15, "eta": 0.1}], "")[0]
    assert count["divided"] == vectors[1] < count["as printed"]


def test_means_are_rounded_as_the_paper_prints_them() -> None:
    many, few = (Cell(Printed(90.0, vectors, 1), {}, [10.0, 10.3], [7.0, 7.4], []) for vectors in (101, 17.3))
    assert many.mean_error == few.mean_error == round(10.15, 1)
    assert many.mean_vectors == 7.0
    assert few.mean_vectors == 7.2


def test_times_are_ratios_and_are_measured_once(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in ("LINEAR", "L1", "L2"):
        monkeypatch.setattr(i08_times, table, {name: getattr(i08_times, table)[name] for name in SETS})
    monkeypatch.setattr(i08_times, "SLOWER_SETS", SETS)
    monkeypatch.setattr(i08_times, "FASTER_SETS", SETS)
    monkeypatch.setattr(i08_times, "ROUNDS", 2)
    section = TABLES["i08-times"](lab, tmp_path)
    lines = section.body.splitlines()
    assert lines[2].startswith("| banana | 1 | ")
    assert lines[2].split(" | ")[5:8:2] == ["3.7", "0.19"], "ratios of the paper's rounded seconds"
    assert [claim.source for claim in section.claims] == [
        "[I08] Table VIII",
        "[I08] Table IX",
        "[I08] Table IX",
        "[I08] Table XIII",
    ]
    seconds = lab.map(
        i08_times.times,
        [{"name": "banana", "position": 0, "settings": i08_times._rbf_settings(L1["banana"], "L1 SVM")}],
        "",
    )[0]["seconds"]
    assert {name: len(rounds) for name, rounds in seconds.items()} == {
        "L1 SVM": 2,
        "sparse L1 SVM": 2,
        i08_times.CHOLESKY: 2,
    }
    monkeypatch.setattr(i08_times, "build", None)
    assert TABLES["i08-times"](lab, tmp_path) == section


def test_claims_on_times_follow_the_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    assert i08_times._osv_claim({"a": 0.9, "b": 0.5, "c": 1.2}).holds
    assert not i08_times._osv_claim({"a": 0.999, "b": 1.0, "c": 0.5}).holds, "equal at two decimals is not shorter"
    faster = dict.fromkeys(i08_times.FASTER_SETS, 0.5)
    assert i08_times._faster_claim(faster).holds
    assert not i08_times._faster_claim({**faster, "titanic": 1.1}).holds
    seconds = {"L1 SVM": 1.0, "sparse L1 SVM": 1.5, i08_times.CHOLESKY: 0.3}
    slow = {**seconds, "sparse L1 SVM": 3.0, i08_times.CHOLESKY: 2.0}
    times = {"german": slow, "image": slow, "heart": seconds}
    ratios = i08_times._ratios(times, "L1 SVM", "sparse L1 SVM")
    assert i08_times._slower_claim(times, ratios).holds
    assert i08_times._cholesky_claim(times).holds
    times = {"german": slow, "image": seconds, "heart": slow}
    ratios = i08_times._ratios(times, "L1 SVM", "sparse L1 SVM")
    assert not i08_times._slower_claim(times, ratios).holds
    assert not i08_times._cholesky_claim(times).holds


def test_the_papers_own_times_bear_its_conclusions_out() -> None:
    assert LINEAR_SECONDS.keys() == L1_SECONDS.keys() == L2_SECONDS.keys() == LINEAR.keys()
    assert i08_times._osv_claim(i08_times._printed(LINEAR_SECONDS, 1)).holds
    assert i08_times._faster_claim(i08_times._printed(L2_SECONDS, 1)).holds
    seconds = {name: {"L1 SVM": svm, "sparse L1 SVM": sparse} for name, (svm, sparse) in L1_SECONDS.items()}
    assert i08_times._slower_claim(seconds, i08_times._printed(L1_SECONDS, 1)).holds


def cell_of(vectors: list[float], errors: Sequence[float] = (10.0,), printed: float = 2.0) -> Cell:
    return Cell(Printed(90.0, printed, 1), {}, list(errors), vectors, [])


@pytest.mark.parametrize(
    ("osv", "nosv", "holds"),
    [([3.0, 3.0], [3.0, 3.0], True), ([3.0, 3.0], [3.0, 2.0], False), ([4.0, 4.0], [4.0, 4.0], False)],
)
def test_osv_and_nosv_are_both_compared_with_the_number_of_inputs(
    osv: list[float], nosv: list[float], holds: bool
) -> None:
    claim = inputs_claim({("a", "OSV"): cell_of(osv), ("a", "NOSV"): cell_of(nosv)}, {"a": 3})
    assert claim.holds is holds
    assert ("NOSV on a: " in claim.detail) is not holds


@pytest.mark.parametrize(
    ("osv", "holds"), [((10.0, 12.0), True), ((10.01, 12.01), True), ((10.1, 12.1), False), ((9.0, 13.0), False)]
)
def test_rates_and_their_spread_are_the_same_as_the_paper_rounds_them(osv: tuple[float, float], holds: bool) -> None:
    cells = {("a", "linear SVM"): cell_of([2.0], (10.0, 12.0)), ("a", "OSV"): cell_of([2.0], osv)}
    assert same_claim(cells, ["a"]).holds is holds


def pairs_of(sparse: dict[str, tuple[float, float]]) -> dict[str, tuple[Cell, Cell]]:
    """Return the SVM, with 100 vectors and an error of 10, and a sparse machine on sets of Table VII."""
    svm = cell_of([100.0], printed=100.0)
    return {
        name: (svm, cell_of([vectors], (error,), 200.0 if name == "image" else 50.0))
        for name, (vectors, error) in sparse.items()
    }


@pytest.mark.parametrize(
    ("sparse", "holds"),
    [
        ({"banana": (50.0, 11.0), "heart": (50.0, 10.0), "image": (200.0, 10.0)}, [True, True]),
        ({"banana": (50.0, 11.1), "heart": (50.0, 10.0), "image": (200.0, 10.0)}, [True, False]),
        ({"banana": (100.0, 10.0), "heart": (50.0, 10.0), "image": (50.0, 10.0)}, [False, True]),
    ],
)
def test_sparsity_is_asked_of_the_sets_that_the_paper_names(
    sparse: dict[str, tuple[float, float]], holds: list[bool]
) -> None:
    assert [claim.holds for claim in rbf_claims("L1 SVM", pairs_of(sparse))] == holds


def test_a_newton_method_has_the_same_support_vectors_as_the_l2_svm(lab: Lab) -> None:
    assert lab.data is not None
    setting = {"C": 10.0, "gamma": 3.0}
    counted = i08.measure(lab.data, "banana", 0, "L2 SVM", **setting)["vectors"]
    assert abs(i08.rows_within_margin(lab.data, "banana", 0, **setting)["rows"] - counted) <= 1


@pytest.mark.parametrize(
    ("rates", "vectors", "holds"),
    [
        ([60.0, 89.0, 88.6, 88.5, 88.4, 88.3], [9, 17, 32, 42, 55, 65], True),
        ([60.0, 89.0, 88.6, 88.5, 88.4, 87.9], [9, 17, 32, 42, 55, 65], False),
        ([60.0, 89.0, 88.6, 88.5, 88.4, 88.3], [9, 17, 17, 17, 17, 65], False),
    ],
)
def test_the_rate_is_constant_while_vectors_grow_linearly(rates: list[float], vectors: list[int], holds: bool) -> None:
    assert i08_eta.banana_claim(rates, vectors).holds is holds


@pytest.mark.parametrize(("first", "most", "holds"), [(88.0, 400, True), (87.5, 400, False), (88.0, 399, False)])
def test_the_rate_changes_little_while_all_rows_become_vectors(first: float, most: int, holds: bool) -> None:
    rates, vectors = [first, 89.2, 89.6, 89.6, 89.6, 89.6], [31, 247, 390, most, 400, 400]
    assert i08_eta.waveform_claim(rates, vectors, 400).holds is holds


def test_a_few_rows_of_each_class_warm_a_machine_up() -> None:
    y = np.repeat([1, 0], [30, 5])
    assert _timing.few_rows(y).tolist() == [*range(30, 35), *range(20)]


def test_machines_take_turns_until_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("time.process_time", lambda: float(next(clock)))
    turns: list[str] = []
    works = {name: lambda name=name: turns.append(name) for name in ("a", "b")}
    assert _timing.interleaved(works, most_rounds=5, budget=3.5) == {"a": [1.0, 1.0], "b": [1.0, 1.0]}
    assert turns == ["a", "b", "a", "b"]


@pytest.mark.parametrize("table", ["i08-linear", "i08-l1", "i08-l2", "i08-eta", "i08-times"])
def test_missing_folder_is_one_sentence(tmp_path: Path, table: str) -> None:
    with pytest.raises(DataError, match=r"there is no data set .*banana\.npz"):
        TABLES[table](Lab(tmp_path, tmp_path / "store"), tmp_path)


def choice(axis: str, errors: dict[float, list[float]], paper: tuple[float, float], spread: float = 2.0) -> object:
    """Return what is chosen where each C of (1, 10) has this mean error, and folds differ by the spread."""
    folds = spread * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    trials = {value: np.array(means)[None, :, None] + folds for value, means in errors.items()}
    return i08._best([1.0, 10.0], trials, axis, paper)


def test_the_papers_parameters_stand_within_noise() -> None:
    errors = {0.1: [10.2, 12.0], 0.5: [11.0, 10.0]}
    assert choice("gamma", errors, (0.1, 1.0)) == (0.1, 1.0)
    assert choice("gamma", errors, (0.1, 10.0)) == (0.5, 10.0)
    assert choice("gamma", errors, (0.1, 1.0), spread=0.1) == (0.5, 10.0)


def test_otherwise_the_lowest_error_or_the_largest_eta_within_noise() -> None:
    errors = {0.5: [30.0, 30.0], 0.1: [10.3, 10.3], 0.01: [10.0, 10.0]}
    assert choice("gamma", errors, (0.5, 1.0)) == (0.01, 1.0)
    assert choice("eta", errors, (0.5, 1.0)) == (0.1, 1.0)
    assert choice("eta", errors, (0.5, 1.0), spread=0.1) == (0.01, 1.0)


def test_split_is_scaled_by_its_training_rows_and_gamma_by_the_inputs(lab: Lab) -> None:
    assert lab.data is not None
    split = scaled_split(lab.data, "banana", 0)
    assert split.X.min(axis=0).tolist() == [0.0] * 3
    assert split.X.max(axis=0).tolist() == [1.0] * 3
    raw = _ida.split(lab.data, "banana", 0)
    low, high = raw.X.min(axis=0), raw.X.max(axis=0)
    np.testing.assert_allclose(split.X_test, (raw.X_test - low) / (high - low))
    assert build("sparse L1 SVM", split, {"C": 2.0, "gamma": 15.0, "eta": 0.1}).gamma == 5.0


def test_squared_hinge_svm_is_at_its_optimum() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    machine = SquaredHingeSVM(C=10.0, gamma=0.5).fit(X, y)
    outputs = machine.decision_function(X)
    alpha = 10.0 * np.maximum(0.0, 1.0 - y * outputs)  # C xi [I08, eq. 25]
    assert abs(alpha @ y) < 0.2
    np.testing.assert_allclose(rbf_kernel(X, gamma=0.5) @ (alpha * y) + machine.intercept_, outputs, atol=0.05)
    assert np.mean(machine.predict(X) == np.sign(outputs)) == 1.0
    assert len(machine.vectors_) == np.count_nonzero(alpha > 0.01)


def test_printed_figures_cover_the_thirteen_sets() -> None:
    assert LINEAR.keys() == L1.keys() == L2.keys() == _ida.PARAMETERS.keys()
    assert L2["banana"][1] == Printed(89.3, 22.3, 8_000, eta=1e-2)
    assert Printed(89.3, 1, 1).error == 10.7
