/* Build: cc -std=c99 -O2 integer_linear.c example_main.c -o example */
#include "integer_linear.h"
#include <stdio.h>

int main(void)
{
    static const uint8_t x[INTEGER_LINEAR_FEATURES] = {67, 56, 32, 70};
    const int index = integer_linear_predict(x);
    const int failed = integer_linear_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_linear_label(index), failed ? "FAILED" : "ok");
    return failed;
}
