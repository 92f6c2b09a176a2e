/* libFuzzer's entry points: the first byte of an input names the predictor, the others are its features. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static uint64_t state;

static unsigned draw(unsigned below)
{
    state ^= state << 13 & UINT64_MAX;
    state ^= state >> 7;
    state ^= state << 17 & UINT64_MAX;
    return (unsigned)((state >> 32) % below);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    for (unsigned i = 0; i < n_fuzz_cases; ++i) {
        if (fuzz_cases[i]->selftest() != 0) {
            fprintf(stderr, "FOUND: %s: the self-test fails\n", fuzz_cases[i]->title);
            abort();
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) {
        fuzz_cases[data[0] % n_fuzz_cases]->check(data + 1, size - 1);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const struct fuzz_case *chosen;
    size_t needed;

    state = ((uint64_t)seed + 1u) * 0x9E3779B9u;
    (void)draw(2);
    if (size == 0 || draw(3) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (draw(8) == 0) {
        data[0] = (uint8_t)draw(n_fuzz_cases);
    }
    chosen = fuzz_cases[data[0] % n_fuzz_cases];
    needed = 1 + chosen->row_bytes;
    if (needed > max_size) {
        return size;
    }
    if (size < needed) {
        memset(data + size, 0, needed - size);
    }
    chosen->move(data + 1, draw);
    return needed;
}
