/* Build: cc -std=c99 -O2 rbf_projected.c example_main.c -o example */
#include "rbf_projected.h"
#include <stdio.h>

int main(void)
{
    static const float x[RBF_PROJECTED_FEATURES] = {
        0.4113803f, 0.11146994f, 0.014879571f, -0.057356305f, -0.2795055f, 0.046391025f, -0.078233115f,
        0.12074154f, 0.1487453f, 0.0057574143f, -0.42120248f, -0.367596f, -0.33502096f, 0.31009972f,
        -0.015197903f, -0.4796669f, -0.051636588f, 0.16883409f, -0.30472487f, -0.4599618f,
    };
    const int index = rbf_projected_predict(x);
    const int failed = rbf_projected_selftest();

    printf("class %d, label %s, self-test %s\n", index, rbf_projected_label(index), failed ? "FAILED" : "ok");
    return failed;
}
