/* Build: cc -std=c99 -O2 integer_laplacian.c example_main.c -o example */
#include "integer_laplacian.h"
#include <stdio.h>

int main(void)
{
    static const float x[INTEGER_LAPLACIAN_FEATURES] = {0.841f, 0.308f, -0.885f, 0.989f};
    const int index = integer_laplacian_predict(x);
    const int failed = integer_laplacian_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_laplacian_label(index), failed ? "FAILED" : "ok");
    return failed;
}
