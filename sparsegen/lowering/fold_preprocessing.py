"""Fold scaling, kernel parameters and constant terms into the tables, so that a device takes raw features.

Dot products absorb scale, offset and the kernel's slope entirely. Squared distances are computed in dot form where
they can be, ``-a |s|^2 + 2 a z.s - a |z|^2``: one multiplication per feature and vector, and per-feature scales fold
into it. L1 distances are differences, into which one common scale folds.

Float32 loses digits where large terms cancel. The same program can be written in several ways, from the cheapest to
the most careful, and the pass takes the first whose :func:`rounding_error` is small:

1. raw features;
2. features in a buffer, with the transform's offset subtracted (and its scale applied);
3. features in a buffer, with the centre of the data subtracted;

each in dot form first, then with squared distances as plain differences. Where a NaN counts as something, that is
subtracted in a buffer instead of the first way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.expression import Const, Core, Expr, Mul, base_of, substitute
from sparsegen.lowering.program import FORM_OF_DISTANCE, Part, Program
from sparsegen.lowering.rounding import rounding_error
from sparsegen.model import SparseModel, Transform

MAX_ERROR = 2e-5  # of the scores, relative to the largest: a fifth of what `verify` allows
NEGLIGIBLE_CORRECTION = 1e-7  # of a kernel's argument


@dataclass(frozen=True)
class _Group:
    """Kernels of one base whose arguments are multiples of each other: they share t."""

    base: str
    slope: float
    shift: float
    outers: list[Expr]
    members: list[int]


def fold_preprocessing(model: SparseModel, rows: Array) -> Program:
    """Return the program for ``model`` with its transform and kernel parameters folded as far as float32 allows.

    ``rows`` are raw rows like those the device will see; the choice is made for them.
    """
    best, least = None, np.inf
    with np.errstate(all="ignore"):  # a program that overflows has no finite error and is not taken
        for program in ways(model, rows):
            error = rounding_error(program, rows)
            if error <= MAX_ERROR:
                return program
            if best is None or error < least:
                best, least = program, error
    if best is None:
        raise AssertionError("features in a buffer can always be written")
    return best


def ways(model: SparseModel, rows: Array) -> Iterator[Program]:
    """Yield the programs that compute the model, cheapest first; which of them there are, its numbers do not decide."""
    T = model.transform
    groups = _group_kernels(model.kernels)
    common = _is_common(T.scale)
    factor = np.ones_like(T.scale) if common else T.scale  # a common scale folds into the tables instead
    inputs: list[tuple[Array, Array] | None] = [None]
    inputs += [(_rounded(centre), factor) for centre in (T.offset, rows.mean(axis=0))]
    if T.fill is not None:
        inputs[0] = (_rounded(T.fill), factor)  # a NaN needs a buffer, and no table where it counts as 0 there
    elif common and not np.any(T.offset):
        del inputs[1]  # no offset to subtract: this would be the first way plus a buffer
    for dot_form in (True, False) if any(group.base == "sqdist" for group in groups) else (True,):
        for buffer in inputs:
            program = _write(model, groups, buffer, dot_form, rows.mean(axis=0))
            if program is not None:
                yield program


def _write(
    model: SparseModel, groups: list[_Group], buffer: tuple[Array, Array] | None, dot_form: bool, middle: Array
) -> Program | None:
    """Return the program whose buffer holds ``(x - offset) * scale``, or ``None`` where no such program exists.

    ``middle`` is a raw row in the middle of the data.
    """
    T = model.transform
    offset, scale = buffer if buffer is not None else (np.zeros_like(T.offset), np.ones_like(T.scale))
    # What is left for the tables: (x - T.offset) T.scale = (s - rest.offset) rest.scale, with s = (x - offset) scale.
    # The stored offset is rounded to float32. The rest makes up for the rounding, so it costs no accuracy.
    rest = Transform((T.offset - offset) * scale, T.scale / scale)
    middle = (middle - offset) * scale
    projection = projection_shift = None
    if T.projection is not None:
        centre = _rounded(model.vectors.mean(axis=0))  # near 0 fewer digits cancel, and the shift is needed anyway
        projection, projection_shift = _rounded_affine(T.projection * rest.scale, rest.offset, middle)
        projection_shift -= centre
        middle = projection @ middle + projection_shift
        rest = Transform(-centre, np.ones_like(centre))
    parts = [_make_part(group, model, rest, dot_form, middle) for group in groups]
    known = tuple(part for part in parts if part is not None)
    if len(known) != len(parts):
        return None
    return Program(
        parts=known,
        intercept=model.intercept,
        offset=None if buffer is None else offset,
        scale=None if buffer is None else scale,
        projection=projection,
        projection_shift=projection_shift,
        n_features=model.n_features,
        classes=model.classes,
        card=model.card,
        decision=model.decision,
        filled=None if T.fill is None else (_rounded(T.fill) - offset) * scale,
    )


def _make_part(group: _Group, model: SparseModel, T: Transform, dot_form: bool, middle: Array) -> Part | None:
    coef, outers = model.coef[:, group.members, :], tuple(group.outers)
    if group.base == "dot":
        vectors, shift = _rounded_affine(group.slope * model.vectors * T.scale, T.offset, middle)
        return Part("dot", vectors, group.shift + shift, 1.0, None, outers, coef)
    raw = T.offset + model.vectors / T.scale
    if group.base == "sqdist" and dot_form:
        # The norms are those of the rounded vectors: rounding moves a vector, but at x = z the terms still cancel.
        square = _rounded(group.slope * T.scale**2)
        vectors = _rounded(-2.0 * square * raw)
        shift = group.shift + (vectors**2 / (4.0 * square)).sum(axis=1)
        return Part("dot", vectors, shift, 1.0, square, outers, coef)
    if not _is_common(T.scale):
        return None
    factor = abs(float(T.scale[0])) ** (2 if group.base == "sqdist" else 1)
    shift = np.full(len(raw), group.shift + 0.0)  # 0.0 instead of -0.0
    return Part(FORM_OF_DISTANCE[group.base], raw, shift, group.slope * factor, None, outers, coef)


def _is_common(scale: Array) -> bool:
    """Return whether all features have the same scale up to sign, which makes no difference to distances."""
    return bool(np.all(np.abs(scale) == abs(scale[0])))


def _rounded_affine(matrix: Array, offset: Array, middle: Array) -> tuple[Array, Array]:
    """Return ``matrix`` in float32 and the shift with which ``matrix @ s + shift`` is ``matrix @ (s - offset)``.

    The shift makes it exact at ``middle``, so the rounding error depends on the spread of the data, not its offset.
    """
    rounded = _rounded(matrix)
    correction = (matrix - rounded) @ middle
    if np.abs(correction).max() < NEGLIGIBLE_CORRECTION:  # a shift that all vectors share needs no table
        correction[:] = 0.0
    return rounded, correction - matrix @ offset + 0.0


def _rounded(values: Array) -> Array:
    return values.astype(np.float32).astype(np.float64)


def _group_kernels(kernels: tuple[BoundKernel, ...]) -> list[_Group]:
    """Return the kernels in groups; a group has the t of its kernel with the smallest slope."""
    split = [(base_of(kernel.expression).name, *split_affine(kernel.expression)) for kernel in kernels]
    groups: list[_Group] = []
    for k in sorted(range(len(split)), key=lambda k: abs(split[k][2])):
        base, outer, slope, shift = split[k]
        for group in groups:
            ratio = slope / group.slope if group.slope else np.nan
            if group.base == base and np.isclose(group.shift * ratio, shift, rtol=1e-15, atol=0.0):
                group.outers.append(outer if ratio == 1.0 else substitute(outer, Core(), Mul(Const(ratio), Core())))
                group.members.append(k)
                break
        else:
            groups.append(_Group(base, slope, shift, [outer], [k]))
    return sorted((_in_order(group) for group in groups), key=lambda group: group.members)


def _in_order(group: _Group) -> _Group:
    """Return the group with its kernels in the order of the model."""
    order = sorted(range(len(group.members)), key=group.members.__getitem__)
    return replace(group, outers=[group.outers[i] for i in order], members=[group.members[i] for i in order])
