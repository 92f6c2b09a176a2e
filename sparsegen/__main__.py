"""``python -m sparsegen``."""

from sparsegen.cli import main

main()
