/* From reset to main() on Cortex-M: vector table, data, and the floating-point unit where there is one. */

#include <stdint.h>

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_top[];

int main(void);
void reset(void);

/* All this can do is wait. A breakpoint without a debugger, see board_end(), ends up here too. */
static void fault(void)
{
    for (;;) {
        __asm__ volatile ("wfi");
    }
}

__attribute__((section(".vectors"), used))
static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault
};

void reset(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

    for (to = data_start; to < data_end; ++to) {
        *to = *from++;
    }
    for (to = bss_start; to < bss_end; ++to) {
        *to = 0;
    }
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: coprocessors 10 and 11, the FPU */
    __asm__ volatile ("dsb\n\tisb");
#endif
    (void)main();
    fault();
}
