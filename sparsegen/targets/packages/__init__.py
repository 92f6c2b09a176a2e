"""Packages around the C export, one build system per file: the model's C and whatever else that system needs."""
