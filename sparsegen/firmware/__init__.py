"""Firmware around a model: the boards, the files of the program, building, emulating and flashing it."""
