"""Code that others generate, put where our devices build and run it: behind one function that every harness calls."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.targets import Export
from sparsegen.targets.c.code import c_type
from sparsegen.targets.render import template_folder

FLOAT = np.dtype(np.float32)
NAME = "peer"
SCORES = "scores.c"
EMLEARN = "emlearn.c"
COMPILE_SECONDS = 3600.0
"""clang takes minutes for one function of a megabyte, such as m2cgen's digits."""


def shims() -> Path:
    """Return the folder of the C between a peer's code and a harness."""
    return template_folder() / "peers"


def peer_export(
    shape: tuple[int, int],
    sources: Sequence[str],
    files: Mapping[str, bytes],
    *,
    input_dtype: np.dtype[Any] = FLOAT,
    table_bytes: int = 0,
) -> Export:
    """Return generated files behind ``peer_predict``, for (features, classes).

    ``sources`` are files of ``shims()`` or among ``files``; ``table_bytes`` is the least the model can take, so that a
    device which is too small is not tried.
    """
    numbers = {"FEATURES": shape[0], "CLASSES": shape[1], "INPUT": c_type(input_dtype)}
    lines = [f"#define PEER_{name} {value}\n" for name, value in numbers.items()]
    ours = {name: (shims() / name).read_bytes() for name in ("peer.h", *sources) if name not in files}
    return Export(
        target="C of a peer",
        runs_as="c",
        name=NAME,
        files={"shape.h": "".join(lines).encode(), **ours, **files},
        sources=tuple(sources),
        n_features=shape[0],
        n_outputs=1,
        table_bytes=table_bytes,
        usage="",
        input_dtype=input_dtype,
    )


def hosted(device: EmulatedDevice) -> EmulatedDevice:
    """Return the device with a compiler that knows the C library's functions, and declarations of those peers use."""
    twin = copy.copy(device)
    twin.compiler_flags = (*device.compiler_flags, "-fhosted", "-isystem", str(shims() / "include"))
    twin.compile_seconds = COMPILE_SECONDS
    return twin
