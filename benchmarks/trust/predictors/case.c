/*
 * One generated predictor under the fuzzer: included by a generated file that has defined
 *
 *   NAME(suffix)                      the predictor's own functions, whose source it has included
 *   CASE, TITLE                       the name of this case in C and in words
 *   FEATURES SEEN OUTPUTS CLASSES     sizes
 *   VECTORS KERNELS ANCHORS
 *   IS_INTEGER, HAS_INDICES           what it computes in; whether it reads indices of a grid
 *   UNIT, LEAST, LARGEST, LEVELS      of integers: worth of a score, interval of scores, largest index
 *   FEATURE_LIMIT                     of floats: the size of features up to which the header rules overflow out
 *   input_t, score_t                  types
 *   labels, anchors                   what labels must read; rows where the model's data lies
 *   low, high                         the range that promises cover, in units of the input
 *   first, step                       of indices: raw value of index 0, and of one step
 *   error                             bound on the error of each score; of floats, relative to the sum of its terms
 *   offset, scale, projection, vectors, coef, intercept, bases, kernels
 *                                     the real-valued model
 */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(holds, what) do { if (!(holds)) { fail(what, x, scores); } } while (0)
#define NEARNESS 64 /* steps in which an error comes near its bound, each of which counts as coverage */
#define SLACK 1e-9  /* of the reference in double arithmetic, relative */

#if defined(__linux__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t nearness[NEARNESS];

static void fail(const char *what, const input_t *x, const score_t *scores)
{
    fprintf(stderr, "FOUND: %s: %s; x =", TITLE, what);
    for (int j = 0; j < FEATURES; ++j) {
        fprintf(stderr, " %.9g", (double)x[j]);
    }
    fprintf(stderr, ", scores =");
    for (int k = 0; k < OUTPUTS; ++k) {
        fprintf(stderr, " %.9g", (double)scores[k]);
    }
    fprintf(stderr, "\n");
    abort();
}

#if !IS_INTEGER
/* Whether every feature is within the limit up to which the header rules overflow out. */
static int is_limited(const input_t *x)
{
    for (int j = 0; j < FEATURES; ++j) {
        if (!(fabs((double)x[j]) <= FEATURE_LIMIT)) {
            return 0;
        }
    }
    return 1;
}
#endif

static int decided(const score_t *scores)
{
    int best = 0;

    if (OUTPUTS == 1) {
        return scores[0] > 0;
    }
    for (int k = 1; k < OUTPUTS; ++k) {
        if (scores[k] > scores[best]) {
            best = k;
        }
    }
    return best;
}

/* Whether a promise covers a row. */
static int covered(const input_t *x)
{
#if IS_INTEGER
    return NAME(in_range)(x);
#else
    for (int j = 0; j < FEATURES; ++j) {
        if (!((double)x[j] >= low[j] && (double)x[j] <= high[j])) {
            return 0;
        }
    }
    return 1;
#endif
}

/* The real-valued scores, and the sum of the absolute terms of each, which rounding is relative to. */
static void reference(const double *x, double *wanted, double *size)
{
    double seen[SEEN], seen_size[SEEN];

    for (int i = 0; i < SEEN; ++i) {
#if IS_PROJECTED
        seen[i] = 0.0;
        seen_size[i] = 0.0;
        for (int j = 0; j < FEATURES; ++j) {
            seen[i] += projection[i * FEATURES + j] * ((x[j] - offset[j]) * scale[j]);
            seen_size[i] += fabs(projection[i * FEATURES + j]) * ((fabs(x[j]) + fabs(offset[j])) * fabs(scale[j]));
        }
#else
        seen[i] = (x[i] - offset[i]) * scale[i];
        seen_size[i] = (fabs(x[i]) + fabs(offset[i])) * fabs(scale[i]);
#endif
    }
    for (int k = 0; k < OUTPUTS; ++k) {
        wanted[k] = intercept[k];
        size[k] = fabs(intercept[k]);
    }
    for (int u = 0; u < VECTORS; ++u) {
        double base[3] = {0.0, 0.0, 0.0}; /* dot product, squared distance, L1 distance */
        double dot_size = 0.0;

        for (int i = 0; i < SEEN; ++i) {
            const double apart = seen[i] - vectors[u * SEEN + i];

            base[0] += seen[i] * vectors[u * SEEN + i];
            base[1] += apart * apart;
            base[2] += fabs(apart);
            dot_size += seen_size[i] * fabs(vectors[u * SEEN + i]);
        }
        for (int kernel = 0; kernel < KERNELS; ++kernel) {
            const double value = kernels[kernel](base[bases[kernel]]);
            const double most = bases[kernel] == 0 ? kernels[kernel](dot_size) : 1.0;

            for (int k = 0; k < OUTPUTS; ++k) {
                const double weight = coef[(k * KERNELS + kernel) * VECTORS + u];

                wanted[k] += weight * value;
                size[k] += fabs(weight) * most;
            }
        }
    }
}

static void compare(const input_t *x, const score_t *scores)
{
    double raw[FEATURES], wanted[OUTPUTS], size[OUTPUTS];

    if (!covered(x)) {
        return;
    }
    for (int j = 0; j < FEATURES; ++j) {
        raw[j] = HAS_INDICES ? first[j] + step[j] * (double)x[j] : (double)x[j];
    }
    reference(raw, wanted, size);
    for (int k = 0; k < OUTPUTS; ++k) {
        const double bound = IS_INTEGER ? error[k] : error[k] * size[k];
        const double apart = fabs((double)scores[k] * UNIT - wanted[k]);
        const double near = NEARNESS * apart / bound;

        EXPECT(apart <= bound + SLACK * size[k], "a score is further from the real-valued model's than its bound");
        nearness[near < NEARNESS ? (int)near : NEARNESS - 1] = 1;
    }
}

static void check(const uint8_t *data, size_t size)
{
    input_t x[FEATURES];
    score_t scores[OUTPUTS], again[OUTPUTS];
    int index;

    memset(x, 0, sizeof x);
    memcpy(x, data, size < sizeof x ? size : sizeof x);
#if HAS_INDICES
    for (int j = 0; j < FEATURES; ++j) {
        x[j] = (input_t)(x[j] % (LEVELS + 1)); /* the header's condition */
    }
#endif
    NAME(scores)(x, scores);
    NAME(scores)(x, again);
    EXPECT(memcmp(scores, again, sizeof scores) == 0, "two calls give different scores");
    index = NAME(predict)(x);
    EXPECT(index >= 0 && index < CLASSES, "predict is not a class index");
    EXPECT(index == decided(scores), "predict is not what the scores decide");
    EXPECT(strcmp(NAME(label)(index), labels[index]) == 0, "a label reads differently");
    EXPECT(NAME(label)(-1)[0] == '\0' && NAME(label)(CLASSES)[0] == '\0', "a label beyond the classes");
    for (int k = 0; k < OUTPUTS; ++k) {
#if IS_INTEGER
        EXPECT(scores[k] >= LEAST && scores[k] <= LARGEST, "a score is outside the interval of the overflow promise");
#else
        EXPECT(!is_limited(x) || isfinite(scores[k]), "a score overflows although every feature is within the limit");
#endif
    }
    compare(x, scores);
}

/* Moves a feature within its range, to an end of it or to where the data lies, or replaces the row. */
static void move(uint8_t *data, unsigned (*draw)(unsigned))
{
    input_t x[FEATURES];
    const unsigned j = draw(FEATURES), kind = draw(8);

    memcpy(x, data, sizeof x);
    for (unsigned i = 0; i < FEATURES; ++i) {
        if (kind == 0) {
            x[i] = anchors[draw(ANCHORS) * FEATURES + i];
        } else if (kind == 1 || i == j) {
            const double share = draw(4) == 0 ? (double)draw(2) : draw(1u << 20) / (double)((1u << 20) - 1u);
            const double value = low[i] + share * (high[i] - low[i]);

            x[i] = (input_t)(value < INPUT_MIN ? INPUT_MIN : value > INPUT_MAX ? INPUT_MAX : value);
        }
    }
    memcpy(data, x, sizeof x);
}

const struct fuzz_case CASE = {TITLE, sizeof(input_t) * FEATURES, check, move, NAME(selftest)};
