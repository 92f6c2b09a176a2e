// micromlgen's SVC, a C++ class; it expects what Arduino.h declares.
#include <math.h>
#include <stdint.h>
#include "generated.h"
#include "peer.h"

static Eloquent::ML::Port::SVM machine;

int peer_predict(const PEER_INPUT *x)
{
    return machine.predict(const_cast<PEER_INPUT *>(x));
}

void peer_scores(const PEER_INPUT *, float *scores)
{
    scores[0] = 0.0f;
}
