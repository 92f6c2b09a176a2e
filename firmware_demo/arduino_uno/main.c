/*
 * Which exercise? Accelerations at 50 Hz become features of 2.56 s, every 1.28 s, and the features become a label. All
 * in integers.
 *
 * By default the samples are a stored stream whose labels are known, so the program can say how often it was right. With
 * SENSOR defined (make SENSOR=1) they come from an MPU-6050, and the program never ends.
 */

#include "board.h"
#include "exercise.h"
#include "features.h"

#include <string.h>

#if EXERCISE_FEATURES != FEATURES_COUNT
#error "the model was trained on other features: make clean, then make"
#endif

static features_state state;
static int16_t features[FEATURES_COUNT];

static void print_time(uint32_t samples, uint8_t rate)
{
    const uint32_t hundredths = samples * 100u / rate;

    print_text(hundredths < 1000u ? "   " : hundredths < 10000u ? "  " : " ");
    print_fixed(hundredths);
    print_text(" s  ");
}

static int16_t self_test(void)
{
    const int failed = exercise_selftest();

    print_text("sparsegen: exercises, atmega328p\n");
    print_text(failed == 0 ? "self-test ok\n" : "self-test FAILED\n");
    return (int16_t)failed;
}

#if defined(SENSOR)

#include "mpu6050.h"

int main(void)
{
    int16_t sample[FEATURES_AXES];
    uint32_t count = 0;

    board_start();
    self_test();
    if (mpu6050_start() != 0) {
        print_text("no MPU-6050 answers at address 0x68: check the wires\n");
        board_end(1);
    }
    features_start(&state);
    for (;;) {
        if (mpu6050_read(sample) != 0) {
            print_text("the MPU-6050 stopped answering: check the wires\n");
            board_end(1);
        }
        ++count;
        if (features_add(&state, sample, features)) {
            print_time(count, MPU6050_RATE_HZ);
            print_text(exercise_label(exercise_predict(features)));
            print_text("\n");
        }
    }
}

#else

#include "stream.h"

static void print_result(const char *label, const char *expected)
{
    print_text(label);
    if (strcmp(label, expected) != 0) {
        print_text(" (it was ");
        print_text(expected);
        print_text(")");
    }
    print_text("\n");
}

int main(void)
{
    uint32_t of_samples = 0, of_predictions = 0, start;
    uint16_t windows = 0, right = 0, i;
    uint8_t recording;
    int16_t failed;

    board_start();
    failed = self_test();
    for (recording = 0; recording < RECORDINGS; ++recording) {
        features_start(&state);
        for (i = 0; i < SAMPLES; ++i) {
            const uint16_t place = recording * SAMPLES + i;
            const int16_t sample[FEATURES_AXES] = {stream[place][0], stream[place][1], stream[place][2]};
            uint8_t ended;
            int found;

            start = board_count();
            ended = features_add(&state, sample, features);
            of_samples += board_count() - start;
            if (!ended) {
                continue;
            }
            start = board_count();
            found = exercise_predict(features);
            of_predictions += board_count() - start;
            print_time(place + 1u, RATE_HZ);
            print_result(exercise_label(found), truth[recording]);
            right += strcmp(exercise_label(found), truth[recording]) == 0;
            ++windows;
        }
    }
    print_number(right);
    print_text(" of ");
    print_number(windows);
    print_text(" windows right\n");
    print_number((int32_t)(of_samples / ((uint32_t)RECORDINGS * SAMPLES)));
    print_text(" cycles a sample, ");
    print_number((int32_t)(of_predictions / windows));
    print_text(" cycles a prediction, self-test ");
    print_text(failed == 0 ? "ok\n" : "FAILED\n");
    board_end(failed);
    return 0;
}

#endif
