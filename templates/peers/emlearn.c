/* emlearn's forests and networks: the generated function takes the number of features too. */
#include "generated.h"
#include "peer.h"

int peer_predict(const PEER_INPUT *x)
{
    return (int)model_predict(x, PEER_FEATURES);
}
