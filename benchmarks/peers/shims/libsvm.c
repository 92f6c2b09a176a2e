/* LIBSVM's own library with a model file, loaded before main; a row becomes the list of its nonzero features. */
#include <stdio.h>
#include "peer.h"

struct svm_node { int index; double value; };
struct svm_model;
struct svm_model *svm_load_model(const char *path);
double svm_predict(const struct svm_model *model, const struct svm_node *x);

static struct svm_model *machine;

__attribute__((constructor)) static void load(void)
{
    machine = svm_load_model(PEER_MODEL_FILE);
    if (machine == NULL) {
        fputs("the model file cannot be read\n", stderr);
    }
}

int peer_predict(const PEER_INPUT *x)
{
    struct svm_node nodes[PEER_FEATURES + 1];
    int j, n = 0;

    for (j = 0; j < PEER_FEATURES; ++j) {
        if (x[j] != 0.0f) {
            nodes[n].index = j + 1;
            nodes[n++].value = x[j];
        }
    }
    nodes[n].index = -1;
    return (int)svm_predict(machine, nodes);
}
