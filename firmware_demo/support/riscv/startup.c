/* From reset to main() on RV32: stack, trap vector, data. */

#include <stdint.h>

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

int main(void);

/* The linker does not relax addresses against gp (-mno-relax), so gp needs no value. */
__asm__ (
    ".section .reset, \"ax\"\n"
    ".global reset\n"
    "reset:\n"
    "    la sp, stack_top\n"
    "    la t0, trap\n"
    "    csrw mtvec, t0\n"
    "    j start\n"
    ".balign 4\n"
    "trap:\n" /* all this can do is wait; a breakpoint without a debugger ends up here too */
    "    wfi\n"
    "    j trap\n"
);

__attribute__((used)) void start(void);
void start(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

    for (to = data_start; to < data_end; ++to) {
        *to = *from++;
    }
    for (to = bss_start; to < bss_end; ++to) {
        *to = 0;
    }
    (void)main();
    for (;;) {
    }
}
