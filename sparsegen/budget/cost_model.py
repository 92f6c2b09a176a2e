"""CostModel: what a prediction will cost on a device, known before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.budget.plan import Plan
from sparsegen.devices import Profile

if TYPE_CHECKING:
    from sparsegen.budget.budget import Budget


@dataclass(frozen=True)
class Predicted:
    """The cost that a plan will have, and how far off it may be."""

    flash: int
    """Bytes of code and constants; see `flash_within`."""
    ram: int
    """Bytes of stack, static data and the input row."""
    instructions: float | None
    """Mean instructions of a prediction; ``None`` where the device counts cycles."""
    cycles: float | None
    """Mean clock cycles, exact or estimated as the device's are; ``None`` where the device cannot tell."""
    milliseconds: float | None
    """Mean time at the part's clock, where cycles are known."""


class CostModel:
    """Predicts costs on one device for models of the given rows, from untrained models of the same structure.

    The first prediction of a structure compiles and measures two such models, which takes seconds; later ones only add
    up and take microseconds. A structure is a plan without its number of vectors.
    """

    def __init__(
        self,
        device: str,
        rows: Array,
        labels: NDArray[Any] | None = None,
        *,
        profile: Profile | None = None,
    ) -> None:
        self.device = device
        self._rows, self._labels = rows, labels
        self._profile = profile

    def predict(self, plan: Plan) -> Predicted:
        """Return what a plan will cost; raise a FitError if not even its tables fit what the device can address."""
        raise NotImplementedError

    def most_vectors(self, plan: Plan, budget: Budget) -> int:
        """Return how many vectors a plan may have within a budget, whatever its own number is; 0 if none fits."""
        raise NotImplementedError
