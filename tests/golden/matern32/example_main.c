/* Build: cc -std=c99 -O2 matern32.c example_main.c -o example */
#include "matern32.h"
#include <stdio.h>

int main(void)
{
    static const float x[MATERN32_FEATURES] = {1.682f, 0.4928f, -1.18f, 1.1302857f, -0.983f};
    const int index = matern32_predict(x);
    const int failed = matern32_selftest();

    printf("class %d, label %s, self-test %s\n", index, matern32_label(index), failed ? "FAILED" : "ok");
    return failed;
}
