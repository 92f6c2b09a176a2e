/* Digits: the self-test, then every stored image, and what a prediction costs. */

#include "board.h"
#include "digits.h"
#include "images.h"

int main(void)
{
    uint32_t spent = 0;
    int failed, right = 0, i;

    board_start();
    print_text("sparsegen: digits 8x8, " BOARD_NAME "\n");
    failed = digits_selftest();
    print_text(failed == 0 ? "self-test ok\n" : "self-test FAILED\n");

    for (i = 0; i < N_IMAGES; ++i) {
        const uint32_t start = board_count();
        const int found = digits_predict(images[i]);

        spent += board_count() - start;
        print_text(digits_label(found));
        print_text(i % 50 == 49 || i == N_IMAGES - 1 ? "\n" : "");
        right += found == truth[i];
    }
    print_number(right);
    print_text(" of ");
    print_number(N_IMAGES);
    print_text(" images right\n");
    print_number((int32_t)(spent / N_IMAGES));
    print_text(" ");
    print_text(board_counts);
    print_text(" a prediction\n");
    board_end(failed);
    return 0;
}
