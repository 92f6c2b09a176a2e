# The digits program for any board; include this before a board.mk. All boards share the data and the model.

PYTHON ?= python3
SPARSEGEN ?= $(PYTHON) -m sparsegen
DTYPE ?= q7
DIGITS := $(dir $(lastword $(MAKEFILE_LIST)))
DATA := $(DIGITS)build
MODULES := $(DIGITS)main.c digits.c
GENERATED = $(BUILD)/digits.c
DEFINES = -I$(DATA) -DBOARD_NAME='"$(BOARD)"'

$(DATA)/train.csv: $(DIGITS)prepare.py
	$(PYTHON) $(DIGITS)prepare.py $(DATA)

$(DATA)/images.h $(DATA)/test.csv: $(DATA)/train.csv

$(DATA)/digits.safetensors: $(DATA)/train.csv
	$(SPARSEGEN) train $< --test-data $(DATA)/test.csv --vectors 24 --scale none --gamma 0.0025 --C 10 -o $@

build/%/digits.c: $(DATA)/digits.safetensors
	$(SPARSEGEN) export $< --name digits --dtype $(DTYPE) --input raw-uint8 --calibrate $(DATA)/train.csv \
	    --device $(DEVICE) -o $(@D)
