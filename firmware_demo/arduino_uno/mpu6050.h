/* An MPU-6050 on the two-wire bus of an ATmega328P: accelerations at 50 Hz, range 4 g, 8192 counts per g. */

#ifndef MPU6050_H
#define MPU6050_H

#include <stdint.h>

#define MPU6050_RATE_HZ 50

/* Sets up the sensor. Returns 0 if it answers. */
uint8_t mpu6050_start(void);

/* Waits for the next sample and reads it: x, y, z. Returns 0 if the sensor answers. */
uint8_t mpu6050_read(int16_t sample[3]);

#endif
