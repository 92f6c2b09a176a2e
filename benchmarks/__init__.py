"""Programs that reproduce the papers' tables and measure training; run one as ``python -m benchmarks.ida --help``."""
