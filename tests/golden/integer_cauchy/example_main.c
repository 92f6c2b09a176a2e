/* Build: cc -std=c99 -O2 integer_cauchy.c example_main.c -o example */
#include "integer_cauchy.h"
#include <stdio.h>

int main(void)
{
    static const uint8_t x[INTEGER_CAUCHY_FEATURES] = {148, 97, 155};
    const int index = integer_cauchy_predict(x);
    const int failed = integer_cauchy_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_cauchy_label(index), failed ? "FAILED" : "ok");
    return failed;
}
