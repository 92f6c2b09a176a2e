"""The data that the people bring: small tables, made from a seed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

RATE, SECONDS, WINDOW = 40, 11, 40  # samples a second, seconds a recording, samples a window
GESTURES = ("circle", "nod", "shake")


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(header)
        table.writerows(rows)


def recordings(seed: int, count: int = 24) -> list[tuple[str, Array]]:
    """Return recordings of a three-axis accelerometer: each has a speed, a strength and a tilt of its own."""
    rng, found = np.random.default_rng(seed), []
    for i in range(count):
        k = i % len(GESTURES)
        rate, size = (0.8, 1.5, 2.2)[k] * rng.uniform(0.6, 1.6), (700, 900, 1100)[k] * rng.uniform(0.5, 1.8)
        phase = 2 * np.pi * (rate * np.arange(RATE * SECONDS) / RATE + rng.random())
        motion = np.column_stack([np.sin(phase), np.cos(phase) * (k == 1), 0.3 * np.sin(2 * phase)])
        tilt = rng.normal(0.0, 0.35, 3)
        gravity = 4096.0 * np.array([tilt[0], tilt[1], 1.0 - 0.5 * tilt[2] ** 2])
        found.append((GESTURES[k], gravity + size * motion + rng.normal(0.0, 60.0, motion.shape)))
    return found


def gestures(folder: Path, seed: int) -> None:
    """Write samples.csv, a row per sample, and windows.csv, a row per window with the number of its recording."""
    taken = recordings(seed)
    samples = [[*np.rint(row).astype(int), name] for name, of in taken for row in of]
    write(folder / "samples.csv", ["x", "y", "z", "gesture"], samples)
    header = ["recording", *(f"{what}_{axis}" for what in ("mean", "spread", "step") for axis in "xyz"), "gesture"]
    rows = [[i, *np.rint(window).astype(int), name] for i, (name, of) in enumerate(taken) for window in _windows(of)]
    write(folder / "windows.csv", header, rows)


def _windows(samples: Array) -> Iterable[Array]:
    for start in range(0, len(samples) - WINDOW + 1, WINDOW // 2):
        part = samples[start : start + WINDOW]
        yield np.concatenate([part.mean(axis=0), part.std(axis=0), np.abs(np.diff(part, axis=0)).mean(axis=0)])


def blobs(seed: int, count: int, features: int = 4, classes: int = 3) -> tuple[Array, NDArray[np.intp]]:
    """Return rows around a centre for each class, in random order; they overlap a little."""
    rng = np.random.default_rng(seed)
    centres, labels = 1.6 * rng.normal(size=(classes, features)), rng.permutation(np.arange(count) % classes)
    return centres[labels] + rng.normal(size=(count, features)), labels


def rare(seed: int, count: int = 600, share: int = 40) -> list[list[object]]:
    """Return rows of machines that are fine, and of a few with a fault, in the middle of them."""
    rng, rows = np.random.default_rng(seed), list[list[object]]()
    for i in range(count):
        is_fault = i % share == 0
        row = rng.normal(size=3) * (0.6 if is_fault else 1.0) + (0.9 if is_fault else 0.0)
        rows.append([*np.round(row, 4), "fault" if is_fault else "ok"])
    return rows
