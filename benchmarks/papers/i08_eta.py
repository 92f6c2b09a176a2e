"""[I08] Figures 1 and 2: recognition rate and number of vectors against eta."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import _ida, _report
from benchmarks.papers import TABLES
from benchmarks.papers._i08_printed import L1, L2
from benchmarks.papers._lab import Lab
from benchmarks.papers._results import Claim, Section
from benchmarks.papers.i08 import ETA_VALUES, count_rows, measure

CONSTANT_FROM, CONSTANT = 0.1, 1.0
"""The eta below which a rate is to be constant, and the percentage points that it may vary."""
STRAIGHT = -0.98
"""The correlation with log eta from which a number falls linearly as eta grows."""
SATURATED_BELOW, LITTLE = 0.01, 2.0
"""The eta below which all rows are to be vectors, and the percentage points that are not very much."""


@TABLES.register("i08-eta")
def eta_curves(lab: Lab, folder: Path) -> Section:
    """Return Figures 1 and 2, rate and vectors against eta, and the evidence for the scale of the paper's gamma."""
    curves = {}
    for name, table, machine in (("banana", L1, "sparse L1 SVM"), ("waveform", L2, "sparse L2 SVM")):
        setting = {"gamma": table[name][0].gamma, "C": table[name][1].C}
        cases = [{"name": name, "position": 0, "machine": machine, "eta": eta, **setting} for eta in ETA_VALUES]
        curves[name] = lab.map(measure, cases, "[I08] curves of eta")
    rates = {name: [100.0 - point["error"] for point in points] for name, points in curves.items()}
    vectors = {name: [point["vectors"] for point in points] for name, points in curves.items()}
    rows = [
        [f"{eta:g}", *(text for name in curves for text in (f"{rates[name][k]:.1f}", str(vectors[name][k])))]
        for k, eta in enumerate(ETA_VALUES)
    ]
    header = ["eta", *(f"{name}, {figure}" for name in curves for figure in ("rate %", "vectors"))]
    choices = [{"name": name, "position": 0, "gamma": svm.gamma, "eta": s.eta} for name, (svm, s) in L1.items()]
    counts = lab.map(count_rows, choices, "[I08] scale of gamma")
    count_table = [
        [name, f"{L1[name][1].vectors:g}", str(count["divided"]), str(count["as printed"])]
        for name, count in zip(L1, counts, strict=True)
    ]
    body = [
        _report.markdown(header, rows),
        "Rows that the Cholesky factorisation chooses on the first split, with gamma and eta of Table III:",
        _report.markdown(["set", "Table VII", "gamma / inputs", "gamma as printed"], count_table),
    ]
    plot = folder / "i08-eta.png"
    _draw(rates, vectors, plot)
    n_rows = len(_ida.arrays(lab.data, "waveform")["train"][0])
    claims = [
        banana_claim(rates["banana"], vectors["banana"]),
        waveform_claim(rates["waveform"], vectors["waveform"], n_rows),
    ]
    notes = (
        "One data set each, as in the paper: the first split, C and gamma of Tables III (banana) and X (waveform). "
        "The second table is why gamma is divided by the number of inputs, which the paper does not say."
    )
    title = "[I08] Figures 1 and 2: recognition rate and vectors against eta"
    return Section(title, notes, "\n\n".join(body), claims=claims, plots=[plot])


def banana_claim(rates: Sequence[float], vectors: Sequence[int]) -> Claim:
    """Return what the paper says of Figure 1."""
    small = [k for k, eta in enumerate(ETA_VALUES) if eta <= CONSTANT_FROM]
    spread = np.ptp([rates[k] for k in small])
    straight = np.corrcoef(np.log10([ETA_VALUES[k] for k in small]), [vectors[k] for k in small])[0, 1]
    return Claim(
        "[I08] Figure 1",
        "the recognition rate was constant for the value of eta equal to or smaller than 0.1 but the number of support "
        "vectors increased linearly as the value of eta was decreased",
        f"the rate varies by {spread:.1f} points; the correlation of the vectors with log eta is {straight:.3f}",
        f"at most {CONSTANT:g} point, and a correlation of {STRAIGHT:g} or below",
        bool(spread <= CONSTANT and straight <= STRAIGHT),
    )


def waveform_claim(rates: Sequence[float], vectors: Sequence[int], n_rows: int) -> Claim:
    """Return what the paper says of Figure 2."""
    spread = np.ptp(rates)
    fewest = min(n for n, eta in zip(vectors, ETA_VALUES, strict=True) if eta < SATURATED_BELOW)
    return Claim(
        "[I08] Figure 2",
        "the recognition rate did not change very much for the change of eta. But the number of support vectors "
        "saturated to the number of training data for the value of eta smaller than 0.01",
        f"the rate varies by {spread:.1f} points over all eta; {fewest} of {n_rows} rows are vectors",
        f"at most {LITTLE:g} points, and all rows",
        bool(spread <= LITTLE and fewest == n_rows),
    )


def _draw(rates: dict[str, list[float]], vectors: dict[str, list[int]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.2), dpi=110, layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), rates, strict=True):
        axes.plot(ETA_VALUES, rates[name], "o-", color="C0")
        axes.set_xscale("log")
        axes.set_xlabel("eta")
        axes.set_ylabel("recognition rate, %", color="C0")
        axes.set_title(name, fontsize=10)
        other = axes.twinx()
        other.plot(ETA_VALUES, vectors[name], "s--", color="C1")
        other.set_ylabel("vectors", color="C1")
    figure.savefig(path, metadata={"Software": None})
