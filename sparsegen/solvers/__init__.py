"""Numerical cores: arrays in, coefficients out. They never see a kernel function."""
