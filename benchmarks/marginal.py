"""What one more vector, feature or product of both costs on a device: flash, and instructions or cycles.

A prediction with m vectors of d features costs ``fixed + m d * product + m * vector + d * feature``. Four random models
with 64 and 128 of each give the four; with 32 and 64 on AVR, whose flash is small. Two classes, Gaussian kernel;
integers read indices of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import _report
from sparsegen.devices import DEVICES, Device
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import TARGETS

DEVICE_NAMES = ("cortex-m0plus", "cortex-m3", "cortex-m4f", "rv32imc", "atmega328p")
DTYPES = ("f32", "q15", "q7")
SIZES = (64, 128)  # compilers, and our loops, write shorter sums out
SIZES_OF = {"atmega328p": (32, 64)}
ROWS = 8


@dataclass(frozen=True)
class Shares:
    """The parts of one figure."""

    device: str
    dtype: str
    figure: str
    fixed: float
    product: float
    vector: float
    feature: float


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--device", nargs="+", choices=DEVICE_NAMES, default=list(DEVICE_NAMES))
    options.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    chosen = options.parse_args(arguments)
    names = [name for name in chosen.device if DEVICES[name].missing() is None]
    pairs = [(name, dtype) for name in names for dtype in chosen.dtype]
    shares = [
        part
        for name, dtype in _report.track(pairs, "devices", len(pairs))
        for part in parts(DEVICES[name], dtype, chosen.seed)
    ]
    if chosen.json:
        return _report.as_json([asdict(part) for part in shares])
    cells = [
        [s.device, s.dtype, s.figure, f"{s.fixed:,.0f}", f"{s.product:.2f}", f"{s.vector:.1f}", f"{s.feature:.1f}"]
        for s in shares
    ]
    skipped = [f"{name}: {DEVICES[name].missing()}" for name in chosen.device if name not in names]
    header = ["device", "format", "figure", "fixed", "per vector and feature", "per vector", "per feature"]
    return "\n\n".join([_report.markdown(header, cells, text=3), *skipped])


def parts(device: Device, dtype: str, seed: int) -> list[Shares]:
    """Return the parts of flash and of the cost of a prediction."""
    few, many = SIZES_OF.get(device.name, SIZES)
    found = {(m, d): measure(device, dtype, m, d, seed) for m in (few, many) for d in (few, many)}
    figures = ("flash", "instructions or cycles")
    return [
        Shares(device.name, dtype, figures[i], *split({size: pair[i] for size, pair in found.items()}, few, many))
        for i in range(len(figures))
    ]


def split(found: dict[tuple[int, int], float], few: int, many: int) -> tuple[float, float, float, float]:
    """Return ``fixed, product, vector, feature`` from the figures by (vectors, features)."""
    step = many - few
    least = found[few, few]
    product = (found[many, many] - found[many, few] - found[few, many] + least) / step**2
    vector = (found[many, few] - least) / step - few * product
    feature = (found[few, many] - least) / step - few * product
    return least - few * few * product - few * vector - few * feature, product, vector, feature


def measure(device: Device, dtype: str, m: int, d: int, seed: int) -> tuple[float, float]:
    """Return the flash and the cost of a prediction with m vectors of d features."""
    rng = np.random.default_rng(seed)
    model = SparseModel(
        vectors=rng.normal(size=(m, d)),
        coef=rng.normal(size=(1, 1, m)),
        intercept=np.array([0.1]),
        kernels=(KERNELS["rbf"].bind(gamma=0.5 / d),),
        transform=Transform.identity(d),
        classes=(0, 1),
    )
    X = rng.normal(size=(ROWS, d))
    numbers = FLOAT32 if dtype == FLOAT32.dtype else Format(dtype, "grid", rows=X)
    lowered = TARGETS["c"].lower(model, numbers)
    measured = device.measure(TARGETS["c"].write(lowered, "model", device.loops), lowered.inputs(X))
    cost = measured.instructions if measured.cycles is None else measured.cycles
    return float(measured.flash or np.nan), float(np.nan if cost is None else cost)


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
