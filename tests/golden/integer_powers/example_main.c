/* Build: cc -std=c99 -O2 integer_powers.c example_main.c -o example */
#include "integer_powers.h"
#include <stdio.h>

int main(void)
{
    static const float x[INTEGER_POWERS_FEATURES] = {0.915f, -0.3375f, -0.019f};
    const int index = integer_powers_predict(x);
    const int failed = integer_powers_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_powers_label(index), failed ? "FAILED" : "ok");
    return failed;
}
