"""The page: sections in their order, one style sheet, one policy that lets nothing else in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sparsegen.data import Dataset
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel

if TYPE_CHECKING:
    from sparsegen.search.front import Front  # type: ignore[import-not-found, unused-ignore]


def report(
    model: SparseModel,
    test_set: Dataset,
    *,
    train_set: Dataset | None = None,
    front: Front | None = None,
    devices: Iterable[str] | None = None,
    numbers: Format = FLOAT32,
    image: tuple[int, int] | None = None,
    name: str = "model",
) -> bytes:
    """Return the page as UTF-8; the same input gives the same bytes.

    Args:
        model: What the page is about.
        test_set: Labelled rows with the model's features. Rows that the model's card does not know to be held out are
            never counted as a test.
        train_set: Rows that baselines are trained on; without it, those of ``test_set`` that are not held out.
        front: What a search found, for the plot of what else could be had.
        devices: Where costs are measured; default: all that can run here.
        numbers: The number format of the C.
        image: Height and width where the features are pixels; ``None`` guesses for square images.
        name: The prefix of the C's symbols.
    """
    raise NotImplementedError
