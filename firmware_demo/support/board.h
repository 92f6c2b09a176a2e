/*
 * What a board offers a program: a serial line, a counter, and a way to end.
 *
 * avr/, cortex_m/ and riscv/ each hold a board.c with these functions, and what is needed to get from reset to main().
 */

#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Tables in flash: AVR has a separate address space for it, and copies plain const tables to RAM. */
#if defined(__FLASH)
#define IN_FLASH __flash
#else
#define IN_FLASH
#endif

/* Starts the serial line (115200 baud, 8N1) and the counter. Call it first. */
void board_start(void);

/* Sends one character. */
void board_send(char c);

/* The count since board_start(), and what it counts: "cycles", "instructions" or "ticks". */
uint32_t board_count(void);
extern const char *const board_counts;

/* Ends the program: an emulator stops, a real board waits for its reset button. 0 is success. */
void board_end(int status);

/* Printing through board_send(); in console.c. */
void print_text(const char *text);
void print_number(int32_t number);
void print_fixed(uint32_t hundredths); /* 128 is 1.28 */

#endif
