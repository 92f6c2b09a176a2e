"""The vectors drawn: as images where rows are images, otherwise as profiles over the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.model import LARGEST
from sparsegen.model.draw import vector_images
from sparsegen.report.axis import Axis, place
from sparsegen.report.figures import plural
from sparsegen.report.html import fill
from sparsegen.report.pixels import DIVERGING, levels, png
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

MOST_DRAWN = 240
MOST_ROWS = 64
"""Rows of a projection that are drawn."""
COLOURS = 8
PANEL = (300.0, 110.0)
PADDING = 6.0


@dataclass(frozen=True)
class Tile:
    """One vector as an image."""

    address: str
    told: str
    weight: str


@dataclass(frozen=True)
class Panel:
    """The vectors of one class as lines over the features."""

    lines: list[str]
    mean: str | None
    told: str


@dataclass(frozen=True)
class Group:
    """The vectors that speak for one class most."""

    name: str
    colour: str
    count: str
    tiles: list[Tile]
    panel: Panel | None


def section(subject: Subject) -> Section | None:
    """Return the drawings; ``None`` where the vectors cannot be drawn."""
    try:
        raw = _raw(subject)
    except ModelError:
        return None
    weight, speaks_for = _weights(subject)
    order = np.argsort(-weight, kind="stable")[:MOST_DRAWN]
    images = None if subject.image_size is None else vector_images(subject.model, subject.image_size)
    groups = []
    for group in sorted(set(speaks_for[order].tolist())):
        members = order[speaks_for[order] == group]
        groups.append(_group(subject, raw, images, int(group), members, weight))
    html = fill(
        "vectors.html.j2",
        groups=groups,
        are_images=images is not None,
        speak_for_classes=bool((speaks_for >= 0).all()),
        is_projected=subject.model.transform.projection is not None,
        features=subject.feature_names,
        left_out=subject.model.n_vectors - len(order),
        projection=_projection(subject),
        size=subject.image_size,
    )
    return Section("vectors", "The vectors", html)


def _raw(subject: Subject) -> Array:
    """Return the vectors as raw features."""
    with np.errstate(all="ignore"):
        raw = subject.model.transform.inverse(subject.model.vectors)
    if not np.isfinite(raw).all():
        raise ModelError("the model's vectors cannot be drawn: in raw features they are not finite")
    return raw


def _weights(subject: Subject) -> tuple[Array, Array]:
    """Return by vector its largest coefficient and the class that this speaks for; -1 where that is no one class."""
    model = subject.model
    coef = model.coef.sum(axis=1)
    if not subject.has_classes or model.decision != LARGEST:
        return np.abs(coef).max(axis=0), np.full(model.n_vectors, -1)
    if model.n_outputs == 1:
        return np.abs(coef[0]), (coef[0] > 0).astype(int)
    return coef.max(axis=0), coef.argmax(axis=0)


def _group(subject: Subject, raw: Array, images: Array | None, group: int, members: Array, weight: Array) -> Group:
    name = "all vectors" if group < 0 else subject.classes[group]
    tiles = []
    if images is not None:
        for k in members:
            told = f"vector {k}, {'' if group < 0 else f'mostly for {name}, '}weight {weight[k]:.3g}"
            tiles.append(Tile(png(levels(1 - images[k], 0, 1)), told, f"{weight[k]:.3g}"))
    panel = _panel(subject, raw[members], group, name) if images is None else None
    return Group(name, f"c{group % COLOURS}" if group >= 0 else "c0", plural(len(members), "vector"), tiles, panel)


def _panel(subject: Subject, drawn: Array, group: int, name: str) -> Panel:
    rows = subject.tested_features
    low, high = rows.min(axis=0), rows.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    mine = rows[subject.answers.wanted == group] if group >= 0 else rows
    mean = _line((mine.mean(axis=0) - low) / spread) if len(mine) else None
    told = f"{plural(len(drawn), 'vector')} of {name}, feature by feature"
    return Panel([_line((vector - low) / spread) for vector in drawn], mean, told)


def _line(values: Array) -> str:
    """Return the points of a polyline; 0 and 1 are the range of the rows, and a vector may leave it a little."""
    x = Axis(0, max(1, len(values) - 1), PADDING, PANEL[0] - PADDING)
    y = Axis(-0.25, 1.25, PANEL[1], 0)
    clipped = np.clip(values, -0.25, 1.25)
    if len(clipped) == 1:
        clipped = np.repeat(clipped, 2)
    return " ".join(f"{place(x(k))},{place(y(float(value)))}" for k, value in enumerate(clipped))


def _projection(subject: Subject) -> list[Tile]:
    """Return the rows of the projection as images or strips: blue for negative weights, orange for positive ones."""
    transform = subject.model.transform
    if transform.projection is None:
        return []
    weights = transform.projection * transform.scale * subject.tested_features.std(axis=0)
    height, width = (1, subject.model.n_features) if subject.image_size is None else subject.image_size
    tiles = []
    for k, row in enumerate(weights[:MOST_ROWS]):
        most = float(np.abs(row).max()) or 1.0
        strongest = subject.feature_names[int(np.abs(row).argmax())]
        told = f"row {k} of the projection; its largest weight is that of {strongest}"
        tiles.append(Tile(png(levels(row.reshape(height, width), -most, most), DIVERGING), told, str(k)))
    return tiles
