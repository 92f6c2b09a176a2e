#include "mpu6050.h"

#include <avr/io.h>

#define ADDRESS (0x68u << 1)
#define READ 1u
#define BUS_HZ 100000UL
#define PATIENCE 60000U

/* Status codes of the bus, ATmega328P data sheet, tables 22-2 and 22-3. */
enum { STARTED = 0x08, STARTED_AGAIN = 0x10, ADDRESS_TAKEN = 0x18, BYTE_TAKEN = 0x28, READ_TAKEN = 0x40 };

/* Does one step on the bus and returns its status, or 0 if the bus does not react. */
static uint8_t step(uint8_t control)
{
    uint16_t left = PATIENCE;

    TWCR = _BV(TWINT) | _BV(TWEN) | control;
    while (!(TWCR & _BV(TWINT))) {
        if (--left == 0) {
            return 0;
        }
    }
    return TWSR & 0xF8u;
}

static uint8_t send(uint8_t byte)
{
    TWDR = byte;
    return step(0);
}

static void stop(void)
{
    TWCR = _BV(TWINT) | _BV(TWEN) | _BV(TWSTO);
}

/* Begins a message to a register of the sensor. */
static uint8_t address(uint8_t place)
{
    const uint8_t begun = step(_BV(TWSTA));

    if ((begun != STARTED && begun != STARTED_AGAIN) || send(ADDRESS) != ADDRESS_TAKEN || send(place) != BYTE_TAKEN) {
        stop();
        return 1;
    }
    return 0;
}

static uint8_t set(uint8_t place, uint8_t value)
{
    const uint8_t failed = address(place) != 0 || send(value) != BYTE_TAKEN;

    stop();
    return failed;
}

static uint8_t get(uint8_t place, uint8_t *to, uint8_t count)
{
    if (address(place) != 0 || step(_BV(TWSTA)) != STARTED_AGAIN || send(ADDRESS | READ) != READ_TAKEN) {
        stop();
        return 1;
    }
    for (; count > 0; --count) {
        if (step(count > 1 ? _BV(TWEA) : 0) == 0) {
            return 1;
        }
        *to++ = TWDR;
    }
    stop();
    return 0;
}

uint8_t mpu6050_start(void)
{
    TWSR = 0;
    TWBR = (uint8_t)((F_CPU / BUS_HZ - 16UL) / 2UL);
    return set(0x6B, 0x01)      /* PWR_MGMT_1: awake, clocked by the gyroscope */
        || set(0x19, 19)        /* SMPLRT_DIV: 1 kHz / 20 */
        || set(0x1A, 0x03)      /* CONFIG: low pass at 44 Hz */
        || set(0x1C, 0x08)      /* ACCEL_CONFIG: 4 g */
        || set(0x38, 0x01);     /* INT_ENABLE: a new sample sets INT_STATUS */
}

uint8_t mpu6050_read(int16_t sample[3])
{
    uint8_t bytes[6], i;

    do {
        if (get(0x3A, bytes, 1) != 0) { /* INT_STATUS */
            return 1;
        }
    } while (!(bytes[0] & 1u));
    if (get(0x3B, bytes, sizeof bytes) != 0) {
        return 1;
    }
    for (i = 0; i < 3; ++i) {
        sample[i] = (int16_t)((uint16_t)bytes[2 * i] << 8 | bytes[2 * i + 1]);
    }
    return 0;
}
