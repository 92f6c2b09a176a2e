/*
 * What the generated code of the peers takes from a C library, for images without one. expf, exp, logf and pow are the
 * compiler's own (zig's compiler-rt, after musl). It has no tanhf: emlearn links it into every network and ours never
 * call it, so a short one stands in.
 */
#ifndef PEERS_MATH_H
#define PEERS_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#ifdef __cplusplus
extern "C" {
#endif

double exp(double x);
double pow(double x, double y);
float expf(float x);
float logf(float x);
#define fabsf(x) __builtin_fabsf(x)

static inline float tanhf(float x)
{
    const float t = expf(2.0f * x);

    return (t - 1.0f) / (t + 1.0f);
}

#ifdef __cplusplus
}
#endif

#endif
