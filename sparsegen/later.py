"""What a later stage does for an earlier one, loaded when it is asked for.

A model can be exported, verified and measured, but comes before targets and devices, and imports never run backwards.
So the package itself, at the end of the road, states in ``VERBS`` where each verb is, and a model asks for it by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

VERBS: dict[str, str] = {}
"""The module that holds the function of this name. ``sparsegen/__init__.py``, which is loaded first, fills it."""


def verb(name: str) -> Callable[..., Any]:
    """Return the function of a later stage."""
    found: Callable[..., Any] = getattr(importlib.import_module(VERBS[name]), name)
    return found
