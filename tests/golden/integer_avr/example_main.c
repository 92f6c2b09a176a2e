/* Build: cc -std=c99 -O2 integer_avr.c example_main.c -o example */
#include "integer_avr.h"
#include <stdio.h>

int main(void)
{
    static const int16_t x[INTEGER_AVR_FEATURES] = {1, 0, -1, 1, -1, 1, 0, -1, 1, 0, -1, -1, 0, 1, 1, 1, 1};
    const int index = integer_avr_predict(x);
    const int failed = integer_avr_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_avr_label(index), failed ? "FAILED" : "ok");
    return failed;
}
