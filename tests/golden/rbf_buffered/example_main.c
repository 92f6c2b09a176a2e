/* Build: cc -std=c99 -O2 rbf_buffered.c example_main.c -o example */
#include "rbf_buffered.h"
#include <stdio.h>

int main(void)
{
    static const float x[RBF_BUFFERED_FEATURES] = {
        842.682f, 308.51334f, -886.2643f, 990.23627f, -984.0922f, 847.847f, -323.29364f, -594.495f, 956.7354f,
        205.14642f, -938.6253f, -666.41626f, 249.14647f, 854.4744f, 1000.5263f, 920.46f, 829.3948f, 824.3746f,
    };
    const int index = rbf_buffered_predict(x);
    const int failed = rbf_buffered_selftest();

    printf("class %d, label %s, self-test %s\n", index, rbf_buffered_label(index), failed ? "FAILED" : "ok");
    return failed;
}
