/* Build: cc -std=c99 -O2 linear.c example_main.c -o example */
#include "linear.h"
#include <stdio.h>

int main(void)
{
    static const float x[LINEAR_FEATURES] = {2.753f, 0.513f, -1.354f, 0.8225f};
    const int index = linear_predict(x);
    const int failed = linear_selftest();

    printf("class %d, label %s, self-test %s\n", index, linear_label(index), failed ? "FAILED" : "ok");
    return failed;
}
