"""Recordings of an accelerometer on a wrist: made by a small physical model, or read from a file of real ones.

The model is a rigid arm (0.6 m) that hangs from a shoulder. The shoulder moves up, down and forwards; the arm swings
about it. The sensor feels the acceleration of the wrist plus gravity, in its own frame. Rate, reach, phase, the way
the sensor is strapped on, and noise are drawn for each recording.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 50
SECONDS = 10
COUNTS_PER_G = 8192
"""An MPU-6050 in its 4 g range."""
GRAVITY = 9.81
ARM = 0.6
NOISE_G = 0.01
CLASSES = ("jumpingjack", "lunge", "other", "squat")
# For each motion: repetitions per second, angle of the arm at rest (degrees; 0 hangs down) and how far it swings, how
# far the shoulder sinks and moves forwards (metres), hops per repetition and their height, and whether the arm swings
# sideways. Each pair is a range to draw from.
MOTIONS = {
    "jumpingjack": ((0.8, 1.2), (5, 20), (110, 150), (0.0, 0.0), (0.0, 0.0), 2, (0.05, 0.12), True),
    "lunge": ((0.4, 0.6), (5, 25), (10, 30), (0.3, 0.45), (0.4, 0.7), 0, (0.0, 0.0), False),
    "squat": ((0.35, 0.6), (5, 25), (50, 80), (0.3, 0.45), (0.0, 0.05), 0, (0.0, 0.0), False),
    "other": ((0.05, 0.2), (0, 110), (0, 20), (0.0, 0.05), (0.0, 0.05), 12, (0.0, 0.002), False),
}
Recordings = tuple[list[NDArray[np.int16]], list[str]]


def generate(per_class: int, seed: int) -> Recordings:
    """Return recordings of (n, 3) counts, ``per_class`` of every motion, and their labels."""
    rng = np.random.default_rng(seed)
    labels = [label for _ in range(per_class) for label in CLASSES]
    return [_record(label, rng) for label in labels], labels


def _record(label: str, rng: np.random.Generator) -> NDArray[np.int16]:
    repeats, rests, swings, sinks, forwards, hops, heights, sideways = MOTIONS[label]
    spans = (repeats, rests, swings, sinks, forwards, heights)
    rate, rest, swing, sink, forward, height = (rng.uniform(*span) for span in spans)
    fine = 8  # steps of the model per sample
    t = np.arange(-fine, (SECONDS * RATE_HZ + 1) * fine) / (RATE_HZ * fine)
    phase = 2.0 * np.pi * (rate * t + rng.random()) + 0.3 * np.sin(2.0 * np.pi * 0.2 * t + 2.0 * np.pi * rng.random())
    share = (1.0 - np.cos(phase)) / 2.0  # of a repetition, from rest to its end and back
    angle = np.radians(rest + swing * share)
    reach = ARM * np.sin(angle)
    across, aside = forward * share + reach * (not sideways), reach * sideways
    up = -sink * share + height * np.sin(hops * phase / 2.0) ** 2 - ARM * np.cos(angle)
    wrist = np.column_stack([across, aside, up])
    felt = np.gradient(np.gradient(wrist, t, axis=0), t, axis=0) / GRAVITY + [0.0, 0.0, 1.0]
    turned = _about(0, -angle) if sideways else _about(1, angle)  # the sensor's z axis points along the arm
    strap = _about(1, np.array(rng.normal(0.0, 0.15))) @ _about(2, np.array(rng.normal(0.0, 0.15)))
    sensed = np.einsum("ij,njk,nk->ni", strap, turned, felt)[fine:-fine][::fine]
    counts = COUNTS_PER_G * (sensed + NOISE_G * rng.normal(size=sensed.shape))
    return _as_counts(counts)


def _about(axis: int, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotations about the axis 0 (x), 1 (y) or 2 (z), one per angle."""
    c, s, one, none = np.cos(angle), np.sin(angle), np.ones_like(angle), np.zeros_like(angle)
    rows = {
        0: [[one, none, none], [none, c, -s], [none, s, c]],
        1: [[c, none, s], [none, one, none], [-s, none, c]],
        2: [[c, -s, none], [s, c, none], [none, none, one]],
    }[axis]
    return np.moveaxis(np.array(rows), [0, 1], [-2, -1])


def _as_counts(values: NDArray[np.float64]) -> NDArray[np.int16]:
    return np.clip(np.rint(values), -32768, 32767).astype(np.int16)


def read(folder: Path) -> Recordings:
    """Return the recordings of ``emlearn_exercises.npz`` (100 Hz, in g) as this sensor would have given them."""
    with np.load(folder / "emlearn_exercises.npz", allow_pickle=False) as file:
        X, labels = file["X"].astype(np.float64), file["classes"][file["y"]]
    pairs = X[:, : X.shape[1] // 2 * 2].reshape(len(X), -1, 2, X.shape[2]).mean(axis=2)
    return [_as_counts(COUNTS_PER_G * recording) for recording in pairs], [str(label) for label in labels]


def split(recordings: Recordings, held_out: int) -> tuple[Recordings, Recordings]:
    """Return training and test recordings; the last ``held_out`` of every class are for the test."""
    samples, labels = recordings
    later = [labels[i + 1 :].count(label) for i, label in enumerate(labels)]
    parts = [[i for i, n in enumerate(later) if (n < held_out) == test] for test in (False, True)]
    train, test = (([samples[i] for i in part], [labels[i] for i in part]) for part in parts)
    return train, test
