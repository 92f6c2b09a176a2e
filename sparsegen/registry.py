"""Registries, such as KERNELS in ``sparsegen.kernels``: each finds the modules of its package by itself.

A new entry is a new file whose class or object is registered at its definition; no existing file is edited for it.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from sparsegen.errors import OptionError, nearest

T = TypeVar("T")
E = TypeVar("E")


class Registry(Mapping[str, T], Generic[T]):
    """Named entries of one package, loaded on first use."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._entries: dict[str, T] = {}
        self._complete = False
        self._loading = threading.local()

    def register(self, name: str) -> Callable[[E], E]:
        """Return a decorator that registers its argument as ``name``."""

        def add(entry: E) -> E:
            if name in self._entries:
                raise OptionError(f"two {self.kind}s are called {name!r}; give one of them another name")
            own = getattr(entry, "name", name)
            if own != name:  # a model file would come back with the other one
                raise OptionError(f"the {self.kind} {own!r} is registered as {name!r}; give it one name")
            self._entries[name] = entry  # type: ignore[assignment]
            return entry

        return add

    def __getitem__(self, name: str) -> T:
        self._discover()
        try:
            return self._entries[name]
        except KeyError:
            known = ", ".join(self)
            raise OptionError(
                f"there is no {self.kind} {name!r}{nearest(name, self)}; choose one of: {known}"
            ) from None

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        self._discover()
        return len(self._entries)

    def _discover(self) -> None:
        if self._complete or getattr(self._loading, "here", False):  # a module may look at its registry while it loads
            return
        self._loading.here = True
        try:
            package = importlib.import_module(self._package)
            for module in pkgutil.walk_packages(package.__path__, f"{self._package}."):
                if "._" not in module.name:  # a private module holds no entry, and may be slow to import
                    importlib.import_module(module.name)
            self._complete = True  # not before: another thread would see a shorter list, and so after a broken module
        finally:
            self._loading.here = False
