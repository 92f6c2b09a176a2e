/* Build: cc -std=c99 -O2 laplacian_text.c example_main.c -o example */
#include "laplacian_text.h"
#include <stdio.h>

int main(void)
{
    static const float x[LAPLACIAN_TEXT_FEATURES] = {0.841f, 0.308f, -0.885f, 0.989f};
    const int index = laplacian_text_predict(x);
    const int failed = laplacian_text_selftest();

    printf("class %d, label %s, self-test %s\n", index, laplacian_text_label(index), failed ? "FAILED" : "ok");
    return failed;
}
