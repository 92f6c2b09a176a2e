/* How the harnesses see every peer: peer_predict returns the index of the class. shape.h has the sizes of the model. */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

int peer_predict(const PEER_INPUT *x);
void peer_scores(const PEER_INPUT *x, float *scores);

#ifdef __cplusplus
}
#endif

#endif
