/* Build: cc -std=c99 -O2 integer_projected.c example_main.c -o example */
#include "integer_projected.h"
#include <stdio.h>

int main(void)
{
    static const int16_t x[INTEGER_PROJECTED_FEATURES] = {
        100, 138, 127, 103, 120, 86, 130, 119, 104, 78, 83, 66, 118, 72, 79, 85, 66, 108,
    };
    const int index = integer_projected_predict(x);
    const int failed = integer_projected_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_projected_label(index), failed ? "FAILED" : "ok");
    return failed;
}
