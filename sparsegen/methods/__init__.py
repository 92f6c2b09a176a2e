"""Training methods, one paper's method per file."""
