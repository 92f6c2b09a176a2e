/* The HiFive1 (FE310), which QEMU calls sifive_e: UART0, instructions counted by the processor, semihosting as the end. */

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART 0x10013000u
#define GPIO 0x10012000u
#define UART_PINS (3u << 16)
#define CLOCK_HZ 14400000u /* the ring oscillator that the chip starts with: accurate enough for a serial line */

const char *const board_counts = "instructions";

void board_start(void)
{
    REGISTER(GPIO + 0x3Cu) &= ~UART_PINS; /* IOF_SEL: the first function of these pins, UART0 */
    REGISTER(GPIO + 0x38u) |= UART_PINS;  /* IOF_EN */
    REGISTER(UART + 0x18u) = CLOCK_HZ / 115200u - 1u;
    REGISTER(UART + 0x08u) = 1u; /* TXCTRL: enable */
}

void board_send(char c)
{
    while ((REGISTER(UART) >> 31) != 0u) { /* full */
    }
    REGISTER(UART) = (uint8_t)c;
}

uint32_t board_count(void)
{
    uint32_t count;

    __asm__ volatile ("csrr %0, minstret" : "=r"(count));
    return count;
}

/* A debugger or an emulator ends the program. Without either, ebreak is a trap, which waits forever. */
void board_end(int status)
{
    const uint32_t end[2] = {0x20026u, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
    register uint32_t operation __asm__("a0") = 0x20u;    /* SYS_EXIT_EXTENDED */
    register const uint32_t *argument __asm__("a1") = end;

    /* These three instructions mark a semihosting call; they must be uncompressed and on one page. */
    __asm__ volatile (
        ".option push\n.option norvc\n.balign 16\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
        : "+r"(operation) : "r"(argument) : "memory");
    for (;;) {
    }
}
