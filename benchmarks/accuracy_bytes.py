"""Accuracy against flash on digits: SLMC with more and more vectors, beside the full SVC, drawn as a picture.

Flash is what one prediction links on a Cortex-M4F. The split is fixed (a third held out, seed 0), and so are the
parameters, which were settled while looking at several splits of these data, this one among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits

from benchmarks import _report
from sparsegen import data
from sparsegen.bench import bench
from sparsegen.training.train import train

DEVICE = "cortex-m4f"
SERIES: dict[str, list[dict[str, Any]]] = {
    "SLMC": [{"n_vectors": m, "C": 3.0, "gamma": "scale"} for m in (6, 10, 20, 30, 60, 100)],
    "SLMC, projection 10": [
        {"n_vectors": m, "C": 3.0, "gamma": "scale", "projection": 10} for m in (6, 10, 15, 20, 30, 60)
    ],
    "scikit-learn SVC": [{"C": C} for C in (1.0, 10.0)],
}


def measure(series: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one point per model: its series, accuracy, vectors and bytes."""
    digits: Any = load_digits()
    train_set, test_set = data.split(data.from_arrays(digits.data, digits.target, source="digits"), 1 / 3, seed=0)
    points = []
    for title, settings in series.items():
        method = "svm" if "SVC" in title else "slmc"
        for parameters in settings:
            report = train(train_set, test_set, method=method, scale="none", parameters=dict(parameters))
            cost = bench(report.model, test_set.X[:4], devices=[DEVICE])[0].measurement
            points.append(
                {
                    "series": title,
                    "vectors": report.model.n_vectors,
                    "accuracy": report.accuracy,
                    "flash": cost.flash,
                    "instructions": cost.instructions,
                }
            )
    return points


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.0), dpi=130, layout="constrained")
    axes = figure.subplots()
    for title, marker in zip(dict.fromkeys(p["series"] for p in points), "os^", strict=False):
        own = [p for p in points if p["series"] == title]
        axes.plot([p["flash"] for p in own], [100 * p["accuracy"] for p in own], marker=marker, label=title)
        for p in own:
            point = (p["flash"], 100 * p["accuracy"])
            axes.annotate(str(p["vectors"]), point, xytext=(4, -11), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_xticks([2e3, 5e3, 1e4, 2e4, 5e4, 1e5], ["2 kB", "5 kB", "10 kB", "20 kB", "50 kB", "100 kB"])
    axes.minorticks_off()
    axes.set_xlabel("flash on a Cortex-M4F (numbers: expansion vectors)")
    axes.set_ylabel("test accuracy, %")
    axes.set_title("scikit-learn digits, 599 test rows", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, metadata={"Software": None})


def main(arguments: Sequence[str]) -> str:
    """Draw the picture; return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("-o", "--output", type=Path, default=Path(__file__).with_suffix(".png"))
    chosen = options.parse_args(arguments)
    points = measure(SERIES)
    draw(points, chosen.output)
    if chosen.json:
        return _report.as_json(points)
    rows = [
        [p["series"], str(p["vectors"]), f"{100 * p['accuracy']:.2f}", f"{p['flash']:,}", f"{p['instructions']:,.0f}"]
        for p in points
    ]
    return _report.markdown(["model", "vectors", "accuracy %", "flash bytes", "instructions"], rows)


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
