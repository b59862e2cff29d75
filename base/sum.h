/* Checksums (xxHash3, 64 bits): they notice damage, not malice.  Thread-safety: every call. */
#pragma once
#include <sys/uio.h>
#include "base/dl.h"

/* `seed` chains: what came before, or 0. */
uint64_t sum_of(const void *at, size_t len, uint64_t seed);
/* sum_of() of the parts one after the other, seed 0. */
int sum_parts(const struct iovec *part, size_t count, uint64_t *ret) DL_MUST_CHECK;
