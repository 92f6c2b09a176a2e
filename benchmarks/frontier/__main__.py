"""Accuracy within a budget of flash: the best integer model of every size, beside what others have published.

Everything is chosen on held-out training rows; the test rows are used once, for the figure shown. Flash is that of a
prediction on Cortex-M0+, code and tables. Finished cells are kept in the store: a killed run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _report
from benchmarks.frontier._problems import SOURCES, Problem
from benchmarks.frontier._search import Setting, choose, share_right
from benchmarks.papers._lab import Lab
from sparsegen import SLMC
from sparsegen.bench import bench_exports
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.verify import Exports

DEVICE = "cortex-m0plus"
KILOBYTE = 1000  # the smaller of the two that are called so
CALIBRATION_ROWS = 5000
MAX_FITS = 4
Cell = dict[str, Any]


def main(arguments: Sequence[str]) -> str:
    """Return the table, and draw it."""
    options = _options().parse_args(arguments)
    names = options.sets or list(SOURCES)
    cases = [
        {"name": name, "kilobytes": size}
        for name in names
        for size in SOURCES[name].kilobytes
        if options.kilobytes is None or size in options.kilobytes
    ]
    cells = Lab(options.data, options.store, jobs=options.jobs).map(measure, cases, "frontier")
    if not options.sets:
        draw([cell for cell in cells if cell["accuracy"] is not None], options.output / "frontier.png")
    return _report.as_json(cells) if options.json else _table(cells)


def measure(folder: Path | None, name: str, kilobytes: float) -> Cell:
    """Return the best model of a set within so many kilobytes of flash, trained, exported and tested.

    Its accuracy is ``None`` where the code alone takes so much that no vector is left.
    """
    problem = SOURCES[name].load(folder)
    budget = KILOBYTE * kilobytes
    found = choose(problem, budget)
    setting, fitting = found.setting, None
    for _ in range(MAX_FITS):  # the compiler says what the code takes; the rest is for vectors
        model = fit(problem, setting)
        if model.flash <= budget and (fitting is None or model.flash > fitting.flash):
            fitting = model
        shape = setting.shape.filled(budget - model.flash, len(problem.X))
        if shape == setting.shape or shape.vectors < 1:
            break
        setting = replace(setting, shape=shape)
    if fitting is None:
        return {"name": name, "kilobytes": kilobytes, "accuracy": None}
    shape, setting = fitting.setting.shape, fitting.setting
    return {
        "name": name,
        "kilobytes": kilobytes,
        "accuracy": 100.0 * fitting.accuracy(problem),
        "float_accuracy": 100.0 * share_right(fitting.machine.predict(problem.X_test), problem.y_test),
        "held_out": 100.0 * found.held_out,
        "flash": fitting.flash,
        "instructions": fitting.instructions,
        "vectors": shape.vectors,
        "projection": shape.projection,
        "block": shape.block,
        "dtype": fitting.exports.lowered.format.dtype,
        "gamma": setting.gamma,
        "C": setting.C,
        "penalty": setting.penalty,
        "shifts": setting.shifts,
        "seconds": fitting.seconds,
        "choice_seconds": found.seconds,
    }


@dataclass(frozen=True)
class Fitted:
    """A trained and exported model."""

    setting: Setting
    machine: SLMC
    exports: Exports
    flash: int
    instructions: float | None
    seconds: float

    def accuracy(self, problem: Problem) -> float:
        """Return the share of test rows that the integer program labels correctly."""
        program = self.exports.lowered.program
        if not isinstance(program, IntegerProgram):
            raise AssertionError("an integer format gives an integer program")
        index = program.predict_index(program.inputs(problem.X_test.astype(np.float64)))
        return share_right(self.machine.classes_[index], problem.y_test)


def fit(problem: Problem, setting: Setting) -> Fitted:
    """Return a setting trained on all training rows, exported as integers, and its cost."""
    began = time.process_time()
    machine = setting.estimator(problem).fit(problem.X, problem.y)
    seconds = time.process_time() - began
    few = np.random.default_rng(0).permutation(len(problem.X))[:CALIBRATION_ROWS]
    rows = problem.X[few].astype(np.float64)
    dtype = "q7c8" if setting.shape.coef_bytes == 1 else "q7"
    exports = Exports(machine.model_, "c", "model", Format(dtype, problem.reads, rows=rows, labels=problem.y[few]))
    (cost,) = bench_exports(exports, rows[:4], [DEVICE])
    measured = cost.measurement
    return Fitted(setting, machine, exports, int(measured.flash or 0), measured.instructions, seconds)


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Draw accuracy against flash, one panel per set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(cell["name"] for cell in cells))
    figure = Figure(figsize=(12, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, -(-len(names) // 2), squeeze=False).ravel()
    for axis, name in zip(axes, names, strict=False):
        mine = sorted((cell["flash"] / KILOBYTE, cell["accuracy"]) for cell in cells if cell["name"] == name)
        axis.plot(*zip(*mine, strict=True), "o-", color="tab:blue", markersize=4, label="sparsegen")
        for published in SOURCES[name].published:
            axis.plot(published.kilobytes, published.accuracy, "s", color="tab:red", markersize=5)
            axis.annotate(
                published.name, (published.kilobytes, published.accuracy), (-4, -12), textcoords="offset points",
                ha="right", fontsize=8, color="tab:red",
            )  # fmt: skip
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_title(name, fontsize=10)
        axis.grid(alpha=0.3)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    figure.supxlabel("flash on Cortex-M0+, kB (published: model size)")
    figure.supylabel("test accuracy, %")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _table(cells: Sequence[Cell]) -> str:
    header = ["set", "budget", "test accuracy", "float32", "flash", "instructions", "model", "training", "choice"]
    rows = []
    for cell in cells:
        if cell["accuracy"] is None:
            rows.append([cell["name"], f"{cell['kilobytes']:g} kB", "nothing fits", *[""] * (len(header) - 3)])
            continue
        shape = f"{cell['vectors']} vectors"
        shape += "" if cell["projection"] is None else f", projection {cell['projection']}"
        shape += "" if cell["block"] == 1 else f" of {cell['block']}x{cell['block']} sums"
        shape += ", shifted" if cell["shifts"] else ""
        rows.append(
            [
                cell["name"],
                f"{cell['kilobytes']:g} kB",
                f"{cell['accuracy']:.2f} %",
                f"{cell['float_accuracy']:.2f} %",
                f"{cell['flash']:,} B",
                f"{cell['instructions']:,.0f}",
                f"{shape}, {cell['dtype']}",
                f"{cell['seconds']:.1f} s",
                f"{cell['choice_seconds']:.1f} s",
            ]
        )
    published = [
        f"- {name}: {one.name} {one.accuracy} % at {one.kilobytes:g} kB"
        for name in dict.fromkeys(cell["name"] for cell in cells)
        for one in SOURCES[name].published
    ]
    text = _report.markdown(header, rows)
    return text + ("\n\nPublished, size of the model:\n\n" + "\n".join(published) if published else "")


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument("--sets", nargs="+", choices=list(SOURCES), help="only these sets")
    options.add_argument("--kilobytes", nargs="+", type=float, help="only these budgets")
    options.add_argument("--jobs", type=_report.count, default=1, help="processes")
    options.add_argument("--store", type=Path, default=Path("frontier-cells"), help="folder of the finished cells")
    options.add_argument("--output", type=Path, default=Path(__file__).parent, help="folder for the plot")
    return options


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
