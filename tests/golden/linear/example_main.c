/* Build: cc -std=c99 -O2 linear.c example_main.c -o example */
#include "linear.h"
#include <stdio.h>

int main(void)
{
    static const float x[LINEAR_FEATURES] = {2.523f, 0.616f, -1.3275f, 1.23625f};
    const int index = linear_predict(x);
    const int failed = linear_selftest();

    printf("class %d, label %s, self-test %s\n", index, linear_label(index), failed ? "FAILED" : "ok");
    return failed;
}
