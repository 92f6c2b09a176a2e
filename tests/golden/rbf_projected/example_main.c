/* Build: cc -std=c99 -O2 rbf_projected.c example_main.c -o example */
#include "rbf_projected.h"
#include <stdio.h>

int main(void)
{
    static const float x[RBF_PROJECTED_FEATURES] = {
        -0.21693407f, 0.059122857f, -0.1546744f, -0.09262518f, 0.46941578f, -0.1251733f, 0.18494447f,
        -0.13536367f, -0.16471845f, -0.08411119f, 0.4129755f, 0.1659806f, 0.45557693f, -0.47704482f,
        0.022079049f, 0.5627199f, -0.1448289f, -0.20081338f, 0.42451704f, 0.34308943f,
    };
    const int index = rbf_projected_predict(x);
    const int failed = rbf_projected_selftest();

    printf("class %d, label %s, self-test %s\n", index, rbf_projected_label(index), failed ? "FAILED" : "ok");
    return failed;
}
