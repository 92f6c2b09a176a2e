/* Build: cc -std=c99 -O2 integer_rbf.c example_main.c -o example */
#include "integer_rbf.h"
#include <stdio.h>

int main(void)
{
    static const uint8_t x[INTEGER_RBF_FEATURES] = {145, 179, 72};
    const int index = integer_rbf_predict(x);
    const int failed = integer_rbf_selftest();

    printf("class %d, label %s, self-test %s\n", index, integer_rbf_label(index), failed ? "FAILED" : "ok");
    return failed;
}
