"""The C program that runs a model on an AVR in simavr: rows from flash, results through simavr's console register.

It sees the model through ``-D`` definitions (see :mod:`._harness`), and TRACE and CONSOLE, two registers that no
peripheral uses: simavr prints what is written to CONSOLE and stores, with the cycle, every change of TRACE. So nothing
needs a UART, which the small parts do not have, or a timer, whose interrupts would be counted with the model.
"""

from __future__ import annotations

# Two bytes (how many rows there are), then the rows; they are put into the linked file, not compiled.
ROWS = r"""
#include <avr/pgmspace.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C"
#endif
const uint8_t sparsegen_rows[CAPACITY] PROGMEM = {1};
"""

SOURCE = r"""
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <stdint.h>
#include MODEL_HEADER

#ifdef MODEL_VALUE
#define MODEL_CALL MODEL_VALUE
typedef SCORE result_t;
#else
#define MODEL_CALL MODEL_PREDICT
typedef int result_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern const uint8_t sparsegen_rows[];
extern uint8_t _end;

/* What simavr reads from the ELF file: tags and lengths as in its avr_mcu_section.h. */
struct sparsegen_mmcu {
    uint8_t console[2]; uint16_t console_register;
    uint8_t file[2]; char file_name[16];
    uint8_t period[2]; uint32_t microseconds;
    uint8_t trace[3]; uint16_t trace_register; char trace_name[32];
} __attribute__((packed));
struct sparsegen_mmcu sparsegen_mmcu __attribute__((section(".mmcu"), used)) = {
    {11, 2}, _SFR_MEM_ADDR(CONSOLE), {12, 16}, TRACE_FILE, {13, 4}, 10, {14, 35, 0}, _SFR_MEM_ADDR(TRACE), "call"
};

result_t sparsegen_nothing(const INPUT *x);
__asm__ (".text\n.global sparsegen_nothing\nsparsegen_nothing: ret\n");

static void stop(char what)
{
    CONSOLE = (uint8_t)what;
    CONSOLE = '\r';
    cli();
    sleep_enable();
    for (;;) { sleep_cpu(); }
}

void abort(void) { stop('!'); for (;;) { } }

/* Two letters, A to P, for every byte. */
static void show(const void *value, uint8_t bytes)
{
    const uint8_t *p = (const uint8_t *)value;
    for (; bytes; --bytes, ++p) {
        CONSOLE = (uint8_t)('A' + (*p >> 4));
        CONSOLE = (uint8_t)('A' + (*p & 15));
    }
}
#ifdef __cplusplus
}
#endif

#define PAINT 0xA5

static INPUT row[N_FEATURES];
static SCORE scores[N_OUTPUTS];
#if defined(MODEL_PROBABILITIES) && !defined(MEASURE)
static PROBABILITY p_of[N_CLASSES];
#endif
static uint16_t started __attribute__((section(".noinit")));
static volatile result_t sink;

/* The class index; where there are no classes, 0 if the value is the score, to the bit, and otherwise -1. */
static int label_of(void)
{
#ifdef MODEL_VALUE
    const result_t value = MODEL_VALUE(row);
    uint8_t i;

    for (i = 0; i < sizeof(value); ++i) {
        if (((const uint8_t *)&value)[i] != ((const uint8_t *)scores)[i]) { return -1; }
    }
    return 0;
#else
    return MODEL_PREDICT(row);
#endif
}

int main(void)
{
    uint16_t left = pgm_read_word(sparsegen_rows), next = (uint16_t)(uintptr_t)sparsegen_rows + 2, i;
    uint16_t stack = SP;
    volatile uint8_t *p;

    if (started == 0x5AA5) { abort(); } /* a second start: the stack was overwritten, or a jump went nowhere */
    started = 0x5AA5;
    for (p = &_end; (uint16_t)(uintptr_t)p <= stack; ++p) { *p = PAINT; }
#ifdef MEASURE
    TRACE = 1;
    sink = sparsegen_nothing(row);
    TRACE = 0;
#endif
    for (; left; --left) {
        for (i = 0; i < sizeof(row); ++i) { ((volatile uint8_t *)row)[i] = pgm_read_byte(next++); }
#ifdef MEASURE
        TRACE = 1;
        sink = MODEL_CALL(row);
        TRACE = 0;
#else
        int label;

        MODEL_SCORES(row, scores);
        label = label_of();
        for (i = 0; i < N_OUTPUTS; ++i) { show(scores + i, sizeof(SCORE)); }
        show(&label, 2);
#ifdef MODEL_PROBABILITIES
        MODEL_PROBABILITIES(row, p_of);
        for (i = 0; i < N_CLASSES; ++i) { show(p_of + i, sizeof(PROBABILITY)); }
#endif
        CONSOLE = '\r';
#endif
    }
    for (p = &_end; *p == PAINT; ++p) { }
    if (p == &_end) { stop('*'); } /* the stack met the static data */
    i = stack - (uint16_t)(uintptr_t)p + 1;
    show(&i, 2);
    stop('.');
}
"""
