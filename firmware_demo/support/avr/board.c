/* ATmega328P (Arduino Uno and Nano): USART0, Timer1 counting every cycle, and sleep as the end. avr-libc starts it. */

#include "board.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <util/delay.h>

#define BAUD_RATE 115200UL

const char *const board_counts = "cycles";

static volatile uint16_t overflows;

ISR(TIMER1_OVF_vect)
{
    ++overflows;
}

void board_start(void)
{
    UCSR0A = _BV(U2X0);
    UBRR0 = (uint16_t)((F_CPU + 4UL * BAUD_RATE) / (8UL * BAUD_RATE) - 1UL);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(TXEN0);
    TCCR1A = 0;
    TCNT1 = 0;
    TIMSK1 = _BV(TOIE1);
    TCCR1B = _BV(CS10);
    sei();
}

/* A character takes 87 us. simavr sleeps for a moment whenever this register is read, so read it seldom. */
static void wait_for(uint8_t flag)
{
    while (!(UCSR0A & _BV(flag))) {
        _delay_us(30.0);
    }
}

void board_send(char c)
{
    wait_for(UDRE0);
    UCSR0A |= _BV(TXC0); /* writing a one clears it; board_end() waits for it */
    UDR0 = (uint8_t)c;
}

uint32_t board_count(void)
{
    const uint8_t flags = SREG;
    uint16_t low, high;

    cli();
    low = TCNT1;
    high = overflows;
    if ((TIFR1 & _BV(TOV1)) && low < 0x8000u) {
        ++high; /* it has just overflowed, and the interrupt has not run yet */
    }
    SREG = flags;
    return (uint32_t)high << 16 | low;
}

void board_end(int status)
{
    (void)status; /* only the serial line can tell it */
    wait_for(TXC0);
    cli();
    sleep_enable();
    for (;;) {
        sleep_cpu(); /* with interrupts off nothing can wake it: simavr notices and stops */
    }
}
