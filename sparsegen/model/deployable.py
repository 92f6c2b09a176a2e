"""What one does with a model on a device. The work is done at the end of the road, by ``sparsegen.verbs``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from sparsegen.later import verb


class Deployable:
    """A model that can be exported, verified and measured."""

    def export(
        self,
        target: str = "c",
        folder: str | Path | None = None,
        *,
        name: str = "model",
        dtype: str = "f32",
        input: str = "f32",
        rows: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        max_loss: float | None = None,
        early_exit: bool = False,
        reject: float | None = None,
        device: str | None = None,
        part: str | None = None,
        clock: str | float | None = None,
        budget: Any = None,
        force: bool = False,
        **options: Any,
    ) -> Any:
        """Return the model as source code or as a graph, an ``Export``; written into ``folder`` if there is one.

        ``dtype`` is a number format, or ``"auto"`` for the smallest that loses at most ``max_loss`` points of accuracy.
        Integers choose their scales on ``rows``, with their ``labels``, or on what the card tells. ``device`` is what
        the inner loops are for, or ``part`` names a microcontroller that runs them, at its highest ``clock`` or at
        another. What does not fit it, or is over the ``budget`` (a ``Budget``), is refused and not written. ``reject``
        adds a prediction that is -1 where its probability is lower. ``force`` goes on where integers lose too much, and
        overwrites what others wrote. ``options`` are those that a target alone has, such as the ``opset`` of a graph.
        """
        given: dict[str, Any] = {
            "dtype": dtype,
            "input": input,
            "rows": rows,
            "labels": labels,
            "early_exit": early_exit,
            "reject": reject,
        }
        given |= {"name": name, "max_loss": max_loss, "device": device, "force": force}
        given |= {"part": part, "clock": clock, "budget": budget}
        return verb("export")(self, target, folder, **given, **options)

    def verify(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        device: str | Iterable[str] | None = None,
        target: str = "c",
        dtype: str = "f32",
        input: str = "f32",
        rows: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        max_loss: float | None = None,
        early_exit: bool = False,
        **options: Any,
    ) -> Any:
        """Return ``Verdicts``, one for each device: whether it computes for every row of ``X`` what Python computes.

        Without ``device`` these are all that can run here. ``y`` are the labels of ``X``; the rest is as for
        :meth:`export`.
        """
        given: dict[str, Any] = {
            "dtype": dtype,
            "input": input,
            "rows": rows,
            "labels": labels,
            "max_loss": max_loss,
            "early_exit": early_exit,
        }
        return verb("verify")(self, X, y, device=device, target=target, **given, **options)

    def bench(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        device: str | Iterable[str] | None = None,
        part: str | None = None,
        clock: str | float | None = None,
        budget: Any = None,
        target: str = "c",
        dtype: str = "f32",
        input: str = "f32",
        rows: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        max_loss: float | None = None,
        early_exit: bool = False,
        **options: Any,
    ) -> Any:
        """Return ``Costs``, one for each device: flash, RAM, instructions, cycles or time of a prediction.

        They are measured on the rows of ``X``, or on examples of the model's own; with the labels ``y`` each cost tells
        the accuracy too. ``part`` is a microcontroller, at its highest ``clock`` or another; a cost over the ``budget``
        (a ``Budget``) tells so in its ``problem``. The rest is as for :meth:`verify`.
        """
        given: dict[str, Any] = {
            "dtype": dtype,
            "input": input,
            "rows": rows,
            "labels": labels,
            "max_loss": max_loss,
            "early_exit": early_exit,
            "part": part,
            "clock": clock,
            "budget": budget,
        }
        return verb("bench")(self, X, y, device=device, target=target, **given, **options)
