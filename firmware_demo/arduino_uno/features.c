/* features.py computes the same in NumPy, to the bit: change both. Nothing negative is shifted right here. */

#include "features.h"

#define WINDOW_BITS 7 /* 128 samples */
#define ZERO 1024     /* how 0 is stored while values are unsigned */

static uint16_t square_root(uint32_t number)
{
    uint32_t root = 0, bit;

    for (bit = 1UL << 30; bit != 0; bit >>= 2) {
        if (number >= root + bit) {
            number -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint16_t)root;
}

static void finish(const features_sums *a, const features_sums *b, int16_t *out)
{
    const int32_t total = a->total + b->total;
    const uint32_t above = (uint32_t)(total + ((int32_t)ZERO << WINDOW_BITS));
    const int32_t mean = (int32_t)(above >> WINDOW_BITS) - ZERO;
    const int32_t rest = (int32_t)(above & ((1u << WINDOW_BITS) - 1u)); /* total = 128 * mean + rest */
    const int32_t of_mean = mean * mean * (1L << WINDOW_BITS) + 2 * mean * rest;
    const uint32_t of_rest = (uint32_t)(rest * rest) >> WINDOW_BITS;
    const uint32_t deviations = a->squares + b->squares - (uint32_t)of_mean - of_rest; /* squared, and summed */

    /* Roots spread out small values: rest and a slow motion differ as clearly as a fast motion and a faster one. */
    out[0] = (int16_t)((int32_t)(above >> 3) - (int32_t)ZERO * 16); /* total / 8, rounded down */
    out[1] = (int16_t)square_root((uint32_t)square_root(deviations) << 8);
    out[2] = (int16_t)square_root((a->movement + b->movement) << 4);
}

void features_start(features_state *state)
{
    state->samples = 0;
    state->blocks = 0;
}

uint8_t features_add(features_state *state, const int16_t sample[FEATURES_AXES], int16_t out[FEATURES_COUNT])
{
    const uint8_t first = state->samples == 0;
    uint8_t i;

    for (i = 0; i < FEATURES_AXES; ++i) {
        features_sums *now = state->now + i;
        const int16_t value = (int16_t)((int16_t)((uint16_t)(32768u + (uint16_t)sample[i]) >> 5) - ZERO);
        const int16_t step = (int16_t)(value - (state->blocks == 0 ? value : state->last[i]));

        if (first) {
            if (state->blocks != 0) {
                state->before[i] = *now;
            }
            now->total = 0;
            now->squares = 0;
            now->movement = 0;
        }
        now->total += value;
        now->squares += (uint32_t)((int32_t)value * value);
        now->movement += (uint16_t)(step < 0 ? -step : step);
        state->last[i] = value;
    }
    if (state->blocks == 0) {
        state->blocks = 1;
    }
    if (++state->samples < FEATURES_BLOCK) {
        return 0;
    }
    state->samples = 0;
    if (state->blocks == 1) {
        state->blocks = 2;
        return 0;
    }
    for (i = 0; i < FEATURES_AXES; ++i) {
        finish(state->before + i, state->now + i, out + 3 * i);
    }
    return 1;
}
