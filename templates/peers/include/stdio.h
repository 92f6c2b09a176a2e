/* Included by emlearn, whose predictions use nothing of it. */
#include <stddef.h>
