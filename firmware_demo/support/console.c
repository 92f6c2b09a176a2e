/* Text and numbers on the serial line, without printf, which would be larger than most models. */

#include "board.h"

void print_text(const char *text)
{
    while (*text != '\0') {
        if (*text == '\n') {
            board_send('\r');
        }
        board_send(*text++);
    }
}

static void print_digits(uint32_t number, uint8_t least)
{
    char digits[10];
    uint8_t n = 0;

    do {
        digits[n++] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0u || n < least);
    while (n > 0) {
        board_send(digits[--n]);
    }
}

void print_number(int32_t number)
{
    if (number < 0) {
        board_send('-');
    }
    print_digits(number < 0 ? 0u - (uint32_t)number : (uint32_t)number, 1);
}

void print_fixed(uint32_t hundredths)
{
    print_digits(hundredths / 100u, 1);
    board_send('.');
    print_digits(hundredths % 100u, 2);
}
