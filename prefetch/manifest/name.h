/* Names in the order in which Python has them: by code point, where a byte that is no UTF-8 counts
 * as U+DC80 … U+DCFF ("surrogateescape").  Of valid names this is the order of their bytes.  Pure.
 */
#pragma once
#include "base/dl.h"

uint32_t name_code(const char **at);   /* the next code point, and past it; 0: the end, and stay */
/* A byte that is no UTF-8, as above. */
static inline bool name_is_escaped(uint32_t code) { return code >= 0xdc80 && code <= 0xdcff; }
int name_compare(const char *a, const char *b);
