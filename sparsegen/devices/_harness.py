"""The C program that runs a model on the host: rows from a file, results to a file, or a latency on standard output.

It sees the model through ``-D`` definitions (MODEL_HEADER, MODEL_SCORES, MODEL_PREDICT or, for a regression,
MODEL_VALUE, INPUT, SCORE, N_FEATURES, N_OUTPUTS; where there are probabilities also MODEL_PROBABILITIES, PROBABILITY,
N_CLASSES), so it is fixed text, and it is C99 and C++ at once, so it is compiled as the model is.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import Outputs
from sparsegen.targets import Export
from sparsegen.targets.c.code import c_type

# Rows and scores live in allocations of exactly their size: a sanitizer sees any access beyond them.
SOURCE = r"""
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include MODEL_HEADER

#ifdef MODEL_VALUE
#define MODEL_CALL MODEL_VALUE
static volatile SCORE sink;
/* There are no labels: 0 where the value is the score, to the bit, and otherwise -1. */
static int32_t label_of(const INPUT *row, const SCORE *scores)
{
    const SCORE value = MODEL_VALUE(row);
    return memcmp(&value, scores, sizeof value) == 0 ? 0 : -1;
}
#else
#define MODEL_CALL MODEL_PREDICT
static volatile int sink;
static int32_t label_of(const INPUT *row, const SCORE *scores)
{
    (void)scores;
    return (int32_t)MODEL_PREDICT(row);
}
#endif

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) { fputs("out of memory\n", stderr); exit(3); }
    return memory;
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (file == NULL) { perror(path); exit(3); }
    return file;
}

/* For every row: N_OUTPUTS scores, then the int32 label, then N_CLASSES probabilities where there are such. */
static int run(const char *rows_path, const char *out_path)
{
    INPUT *row = (INPUT *)allocate(N_FEATURES * sizeof(INPUT));
    SCORE *scores = (SCORE *)allocate(N_OUTPUTS * sizeof(SCORE));
#ifdef MODEL_PROBABILITIES
    PROBABILITY *p = (PROBABILITY *)allocate(N_CLASSES * sizeof(PROBABILITY));
#endif
    FILE *rows = open_file(rows_path, "rb");
    FILE *out = open_file(out_path, "wb");
    while (fread(row, sizeof(INPUT), N_FEATURES, rows) == N_FEATURES) {
        int32_t label;
        MODEL_SCORES(row, scores);
        label = label_of(row, scores);
        fwrite(scores, sizeof(SCORE), N_OUTPUTS, out);
        fwrite(&label, sizeof(label), 1, out);
#ifdef MODEL_PROBABILITIES
        MODEL_PROBABILITIES(row, p);
        fwrite(p, sizeof(PROBABILITY), N_CLASSES, out);
#endif
    }
    fclose(rows);
    free(row);
    free(scores);
#ifdef MODEL_PROBABILITIES
    free(p);
#endif
    return fclose(out) == 0 ? 0 : 3;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double batch_us(const INPUT *rows, long n, long *next, long calls)
{
    double start = now_us();
    long i;
    for (i = 0; i < calls; i++) {
        sink = MODEL_CALL(rows + *next * N_FEATURES);
        *next = *next + 1 < n ? *next + 1 : 0;
    }
    return now_us() - start;
}

/* Microseconds per prediction, one line per batch; batches grow until the clock can resolve them. */
static int measure(const char *rows_path, long n, long repeats, double shortest_us)
{
    INPUT *rows = (INPUT *)allocate((size_t)n * N_FEATURES * sizeof(INPUT));
    FILE *file = open_file(rows_path, "rb");
    long calls = 1, next = 0, i;
    if (fread(rows, sizeof(INPUT) * N_FEATURES, (size_t)n, file) != (size_t)n) { return 3; }
    fclose(file);
    while (batch_us(rows, n, &next, calls) < shortest_us && calls < 1L << 24) { calls *= 2; }
    for (i = 0; i < repeats; i++) { printf("%.9g\n", batch_us(rows, n, &next, calls) / (double)calls); }
    free(rows);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3) { return run(argv[1], argv[2]); }
    if (argc == 4) { return measure(argv[1], atol(argv[2]), atol(argv[3]), 50.0); }
    return 2;
}
"""


def definitions(export: Export) -> list[str]:
    """Return the compiler flags that tell the program which model it runs."""
    names = (f"{export.name}.h", f"{export.name}.hpp")
    header = next((path for name in names for path in export.files if PurePosixPath(path).name == name), names[0])
    return [
        *_probability_definitions(export),
        f'-DMODEL_HEADER="{header}"',
        f"-DMODEL_SCORES={export.name}_scores",
        f"-DMODEL_{'PREDICT' if export.has_classes else 'VALUE'}={export.entry}",
        f"-DINPUT={c_type(export.input_dtype)}",
        f"-DSCORE={c_type(export.score_dtype)}",
        f"-DN_FEATURES={export.n_features}",
        f"-DN_OUTPUTS={export.n_outputs}",
    ]


def _probability_definitions(export: Export) -> list[str]:
    row = export.probability_row
    if row is None:
        return []
    return [
        f"-DMODEL_PROBABILITIES={export.name}_probabilities",
        f"-DPROBABILITY={c_type(row.base)}",
        f"-DN_CLASSES={row.shape[0]}",
    ]


def result_fields(export: Export, label: str) -> list[tuple[Any, ...]]:
    """Return the fields of what the program writes for every row, with the type of the class index."""
    fields: list[tuple[Any, ...]] = [("scores", export.score_dtype, (export.n_outputs,)), ("label", label)]
    return fields if export.probability_row is None else [*fields, ("probabilities", export.probability_row)]


def outputs_of(records: NDArray[Any], export: Export) -> Outputs:
    """Return what such records hold, in this computer's byte order."""
    probabilities = None
    if export.probability_row is not None:
        probabilities = np.ascontiguousarray(records["probabilities"], export.probability_row.base)
    scores = np.ascontiguousarray(records["scores"], export.score_dtype)
    return Outputs(scores, records["label"].astype(np.int32), probabilities)
