#include "base/sum.h"

#include <xxhash.h>

uint64_t sum_of(const void *at, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(at, len, seed);
}

int sum_parts(const struct iovec *part, size_t count, uint64_t *ret)
{
	XXH3_state_t *state = XXH3_createState();

	if (!state)
		return -ENOMEM;
	XXH3_64bits_reset(state);
	for (size_t i = 0; i < count; i++)
		XXH3_64bits_update(state, part[i].iov_base, part[i].iov_len);
	*ret = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return 0;
}
