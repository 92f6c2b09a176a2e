/* For images without a C library; the functions are the compiler's own. */
#ifndef PEERS_STRING_H
#define PEERS_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#endif
