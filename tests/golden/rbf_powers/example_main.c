/* Build: cc -std=c99 -O2 rbf_powers.c example_main.c -o example */
#include "rbf_powers.h"
#include <stdio.h>

int main(void)
{
    static const float x[RBF_POWERS_FEATURES] = {0.915f, -0.3375f, -0.019f};
    const int index = rbf_powers_predict(x);
    const int failed = rbf_powers_selftest();

    printf("class %d, label %s, self-test %s\n", index, rbf_powers_label(index), failed ? "FAILED" : "ok");
    return failed;
}
