/* Build: cc -std=c99 -O2 cauchy.c example_main.c -o example */
#include "cauchy.h"
#include <stdio.h>

int main(void)
{
    static const float x[CAUCHY_FEATURES] = {0.841f, 0.308f, -0.885f};
    const int index = cauchy_predict(x);
    const int failed = cauchy_selftest();

    printf("class %d, label %s, self-test %s\n", index, cauchy_label(index), failed ? "FAILED" : "ok");
    return failed;
}
