/* Build: cc -std=c99 -O2 binary_rbf.c example_main.c -o example */
#include "binary_rbf.h"
#include <stdio.h>

int main(void)
{
    static const float x[BINARY_RBF_FEATURES] = {0.841f, 0.308f, -0.885f};
    const int index = binary_rbf_predict(x);
    const int failed = binary_rbf_selftest();

    printf("class %d, label %s, self-test %s\n", index, binary_rbf_label(index), failed ? "FAILED" : "ok");
    return failed;
}
