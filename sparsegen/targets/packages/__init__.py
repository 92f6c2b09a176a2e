"""Packages around the C export, one build system per file: the model's C with what that system needs beside it."""
