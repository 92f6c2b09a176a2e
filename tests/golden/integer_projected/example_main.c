/* Build: cc -std=c99 -O2 integer_projected.c example_main.c -o example */
#include "integer_projected.h"
#include <stdio.h>

int main(void)
{
    static const int16_t x[INTEGER_PROJECTED_FEATURES] = {
        110, 103, 75, 78, 106, 80, 95, 93, 106, 112, 118, 92, 107, 85, 114, 128, 91, 88,
    };
    const int index = integer_projected_predict(x);
    const int failed = integer_projected_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_projected_label(index), failed ? "FAILED" : "ok");
    return failed;
}
