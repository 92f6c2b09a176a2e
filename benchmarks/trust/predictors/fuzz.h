/* What the driver of the fuzzer knows of one generated predictor. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_case {
    const char *title;
    size_t row_bytes;
    void (*check)(const uint8_t *data, size_t size);
    void (*move)(uint8_t *data, unsigned (*draw)(unsigned below));
    int (*selftest)(void);
};

extern const struct fuzz_case *const fuzz_cases[];
extern const unsigned n_fuzz_cases;

#endif
