"""Accuracy within a budget of flash, from 1 to 64 kB, beside what others have published."""
