/* Build: cc -std=c99 -O2 matern32.c example_main.c -o example */
#include "matern32.h"
#include <stdio.h>

int main(void)
{
    static const float x[MATERN32_FEATURES] = {-1.876f, -1.0656f, 0.332f, 0.976f, 1.0f};
    const int index = matern32_predict(x);
    const int failed = matern32_selftest();

    printf("class %d, label %s, self-test %s\n", index, matern32_label(index), failed ? "FAILED" : "ok");
    return failed;
}
