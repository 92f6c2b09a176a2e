/*
 * Features of a stream of accelerations: per axis the mean, the spread and the movement over a window, all integers.
 *
 * A window is two blocks of 64 samples (2.56 s at 50 Hz). Every block ends one window and starts the next, so there are
 * features every 1.28 s. No sample is stored, only the sums of two blocks.
 */

#ifndef FEATURES_H
#define FEATURES_H

#include <stdint.h>

#define FEATURES_AXES 3
#define FEATURES_BLOCK 64
#define FEATURES_COUNT (3 * FEATURES_AXES)

typedef struct {
    int32_t total;     /* of the values */
    uint32_t squares;  /* of their squares */
    uint32_t movement; /* of the steps from value to value */
} features_sums;

typedef struct {
    features_sums now[FEATURES_AXES], before[FEATURES_AXES]; /* the block being filled, and the one before it */
    int16_t last[FEATURES_AXES];
    uint8_t samples; /* in the block */
    uint8_t blocks;  /* 0 before the first sample, 1 in the first block, 2 from then on */
} features_state;

/* Forgets all samples. */
void features_start(features_state *state);

/*
 * Takes one sample, as the sensor gives it (any int16_t will do). Returns 1 if a window has ended; its features are then
 * in out: mean, spread and movement of x, of y, of z.
 */
uint8_t features_add(features_state *state, const int16_t sample[FEATURES_AXES], int16_t out[FEATURES_COUNT]);

#endif
