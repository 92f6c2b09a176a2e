"""Firmware around a model: boards, the program, building, emulating and flashing it."""
