/*
 * The micro:bit (nRF51) and Arm's MPS2 boards: their serial line, SysTick as the counter, semihosting as the end.
 */

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* ---- The serial line ---- */

#if defined(BOARD_MICROBIT)

#define UART 0x40002000u
#define TX_PIN 24u /* of P0: to the USB chip of the board */

static void uart_start(void)
{
    REGISTER(0x50000518u) = 1u << TX_PIN;   /* GPIO DIRSET */
    REGISTER(UART + 0x50Cu) = TX_PIN;       /* PSELTXD */
    REGISTER(UART + 0x524u) = 0x01D7E000u;  /* BAUDRATE: 115200 */
    REGISTER(UART + 0x500u) = 4u;           /* ENABLE */
    REGISTER(UART + 0x008u) = 1u;           /* STARTTX */
}

void board_send(char c)
{
    REGISTER(UART + 0x11Cu) = 0u; /* TXDRDY */
    REGISTER(UART + 0x51Cu) = (uint8_t)c;
    while (REGISTER(UART + 0x11Cu) == 0u) {
    }
}

#else /* the UART of Arm's Cortex-M System Design Kit */

#define UART 0x40004000u

static void uart_start(void)
{
    REGISTER(UART + 0x10u) = 25000000u / 115200u; /* BAUDDIV */
    REGISTER(UART + 0x08u) = 1u;                  /* CTRL: transmit */
}

void board_send(char c)
{
    while ((REGISTER(UART + 0x04u) & 1u) != 0u) { /* STATE: buffer full */
    }
    REGISTER(UART) = (uint8_t)c;
}

#endif

/* ---- The counter ---- */

#define SYST_CSR 0xE000E010u
#define SYST_RVR 0xE000E014u
#define SYST_CVR 0xE000E018u

const char *const board_counts = "ticks";

void board_start(void)
{
    REGISTER(SYST_RVR) = 0xFFFFFFu;
    REGISTER(SYST_CVR) = 0u;
    REGISTER(SYST_CSR) = 5u; /* the processor's clock, no interrupt */
    uart_start();
}

/* SysTick counts down from 2^24: calls may be up to 16 million ticks apart, half a second or more. */
uint32_t board_count(void)
{
    static uint32_t total, last;
    const uint32_t now = 0xFFFFFFu - REGISTER(SYST_CVR);

    total += (now - last) & 0xFFFFFFu;
    last = now;
    return total;
}

/* ---- The end ---- */

/* A debugger or an emulator ends the program. Without either, the breakpoint is a fault, which waits forever. */
void board_end(int status)
{
    const uint32_t end[2] = {0x20026u, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
#if __ARM_ARCH == 6
    register uint32_t operation __asm__("r0") = 0x18u; /* SYS_EXIT; its status is only success or failure */
    register uint32_t argument __asm__("r1") = status == 0 ? end[0] : 0x20023u;
#else
    register uint32_t operation __asm__("r0") = 0x20u; /* SYS_EXIT_EXTENDED */
    register const uint32_t *argument __asm__("r1") = end;
#endif
    __asm__ volatile ("bkpt 0xAB" : "+r"(operation) : "r"(argument) : "memory");
    for (;;) {
    }
}
