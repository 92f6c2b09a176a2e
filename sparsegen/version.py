"""The version, in one place that imports nothing."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("sparsegen")
except PackageNotFoundError:  # a checkout that was never installed
    __version__ = "0+unknown"
