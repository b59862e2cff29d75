/* std::shuffle() of libstdc++ with std::mt19937 or mt19937_64, as DALI's readers use it.  libstdc++
 * takes one draw for two swaps, while n² fits what the generator gives (bits/stl_algo.h); a draw in
 * a range is by multiplication since GCC 11, before it by division (bits/uniform_int_dist.h).
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

enum std_shuffle {
	STD_SHUFFLE_NONE,
	STD_SHUFFLE,                   /* mt19937(seed), once */
	STD_SHUFFLE_DIVIDED,           /* the same, built by GCC 10 or older */
	/* shuffle_after_epoch: again before each epoch, the first one is number 1: */
	STD_SHUFFLE_EACH,              /* mt19937_64(seed + 2^32 · number) */
	STD_SHUFFLE_EACH_DIVIDED,      /* older ones: mt19937(seed + number), divided */
	STD_SHUFFLE_KINDS,
};
#define STD_SHUFFLE_SEED 524287u        /* of DALI's readers: kDaliDataloaderSeed */

/* ret: n indices, as they are read in epoch number `epoch`, from 0 on; about 10 ns each, times
 * epoch + 1 with EACH. */
void std_shuffle(enum std_shuffle how, uint32_t seed, uint64_t epoch, uint32_t n, uint32_t *ret);
