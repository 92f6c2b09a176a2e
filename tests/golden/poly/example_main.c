/* Build: cc -std=c99 -O2 poly.c example_main.c -o example */
#include "poly.h"
#include <stdio.h>

int main(void)
{
    static const float x[POLY_FEATURES] = {1.682f, 0.462f, -1.18f, 1.23625f, -1.1796f};
    const int index = poly_predict(x);
    const int failed = poly_selftest();

    printf("class %d, label %s, self-test %s\n", index, poly_label(index), failed ? "FAILED" : "ok");
    return failed;
}
