"""The frame of a drawing: its size, its axes with ticks, and what they are called, all as text for a template."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.report.axis import Axis, Tick, place

LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 14.0, 46.0


@dataclass(frozen=True)
class Frame:
    """A drawing of a width and a height, with an axis below and one at the left."""

    x: Axis
    y: Axis
    width: str
    height: str
    left: str
    right: str
    top: str
    bottom: str
    middle_x: str
    middle_y: str
    label_y: str
    """Where the name of the axis below stands."""
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_name: str
    y_name: str


def frame(
    size: tuple[float, float],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    names: tuple[str, str],
    *,
    x_ticks: list[Tick] | None = None,
) -> Frame:
    """Return a frame; ticks at round values unless those of the axis below are given."""
    width, height = size
    x = Axis(*x_range, LEFT, width - RIGHT)
    y = Axis(*y_range, height - BOTTOM, TOP)
    return Frame(
        x,
        y,
        width=place(width),
        height=place(height),
        left=place(LEFT),
        right=place(width - RIGHT),
        top=place(TOP),
        bottom=place(height - BOTTOM),
        middle_x=place((LEFT + width - RIGHT) / 2),
        middle_y=place((TOP + height - BOTTOM) / 2),
        label_y=place(height - 8),
        x_ticks=x.ticks(8) if x_ticks is None else x_ticks,
        y_ticks=y.ticks(5),
        x_name=names[0],
        y_name=names[1],
    )
