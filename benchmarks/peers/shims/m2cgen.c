/* m2cgen's SVC: it reads doubles and gives the decision of every pair of classes; voting is left to its user. */
#include "generated.c"
#include "peer.h"

#define PAIRS (PEER_CLASSES * (PEER_CLASSES - 1) / 2)

int peer_predict(const PEER_INPUT *x)
{
    double features[PEER_FEATURES];
    int j;

    for (j = 0; j < PEER_FEATURES; ++j) {
        features[j] = x[j];
    }
#if PEER_CLASSES == 2
    return score(features) > 0.0;
#else
    {
        double decisions[PAIRS];
        int votes[PEER_CLASSES] = {0};
        int a, b, pair = 0, best = 0;

        score(features, decisions);
        for (a = 0; a < PEER_CLASSES; ++a) {
            for (b = a + 1; b < PEER_CLASSES; ++b) {
                ++votes[decisions[pair++] > 0.0 ? a : b];
            }
        }
        for (a = 1; a < PEER_CLASSES; ++a) {
            if (votes[a] > votes[best]) {
                best = a;
            }
        }
        return best;
    }
#endif
}
