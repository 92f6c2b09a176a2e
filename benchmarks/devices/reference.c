/*
 * What a careful engineer writes by hand for one binary Gaussian-kernel classifier, to measure generated code against:
 * plain loops, for integers over products with stored norms, and a table for the exponential; nothing that only one
 * processor has.
 *
 * REFERENCE_FLOAT computes with float and an exponential by range reduction and a polynomial, as libraries do;
 * otherwise REFERENCE_INDEX is uint8_t (q7) or uint16_t (q15), and every value is the generated code's, bit by bit.
 */
#include "reference.h"

#if defined(REFERENCE_FLOAT)

static float exponential(float t)
{
    union { float value; uint32_t bits; } scale;
    const float octaves = t * 1.44269504f;
    const int32_t whole = (int32_t)(octaves < 0.0f ? octaves - 0.5f : octaves + 0.5f);
    const float f = (octaves - (float)whole) * 0.693147181f;

    if (whole < -126) {
        return 0.0f;
    }
    scale.bits = (uint32_t)(whole + 127) << 23;
    return scale.value * (1.0f + f * (1.0f + f * (0.5f + f * (0.166666667f + f * (0.0416666667f + f * 0.00833333333f)))));
}

static float score(const float *x)
{
    float sum = reference_intercept;
    int u, j;

    for (u = 0; u < REFERENCE_VECTORS; ++u) {
        float d = 0.0f;

        for (j = 0; j < REFERENCE_FEATURES; ++j) {
            const float difference = x[j] - reference_vectors[u][j];

            d += difference * difference;
        }
        sum += reference_coef[u] * exponential(-reference_gamma * d);
    }
    return sum;
}

#else

static int32_t score(const REFERENCE_INDEX *x)
{
    const REFERENCE_ROM REFERENCE_INDEX *v = reference_vectors[0];
    int32_t sum = reference_intercept;
    uint32_t squares = 0;
    uint8_t u, j;

    for (j = 0; j < REFERENCE_FEATURES; ++j) {
        squares += (REFERENCE_PRODUCT)x[j] * x[j];
    }
    for (u = 0; u < REFERENCE_VECTORS; ++u) {
        uint32_t dot = 0;
        uint32_t d;

        for (j = 0; j < REFERENCE_FEATURES; ++j) {
            dot += (REFERENCE_PRODUCT)x[j] * *v++;
        }
        d = squares + reference_norms[u] - 2 * dot;
        if (d < ((uint32_t)16 << REFERENCE_OCTAVE)) {
            const uint16_t z = (uint16_t)(d >> (REFERENCE_OCTAVE - 12));
            const uint16_t above = reference_powers[(z >> 8) & 15];
            const uint16_t below = reference_powers[((z >> 8) & 15) + 1];
            const uint16_t fall = (uint16_t)(((uint32_t)(uint16_t)(above - below) * (uint8_t)z) >> 8);

            sum += (int32_t)reference_coef[u] * (int16_t)((uint16_t)(above - fall) >> (z >> 12));
        }
    }
    return sum;
}

#endif

void reference_scores(const REFERENCE_INDEX *x, REFERENCE_SCORE *scores)
{
    scores[0] = score(x);
}

int reference_predict(const REFERENCE_INDEX *x)
{
    return score(x) > 0 ? 1 : 0;
}
