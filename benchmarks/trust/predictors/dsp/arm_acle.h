/* What the DSP loops need of Arm's header, in plain C, so that they run under this computer's sanitizers. */
#ifndef ARM_ACLE_H
#define ARM_ACLE_H

#include <stdint.h>

static inline int32_t __smlad(int32_t a, int32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)sum + (uint32_t)((int16_t)a * (int16_t)b) + (uint32_t)((int16_t)(a >> 16) * (int16_t)(b >> 16)));
}

#endif
