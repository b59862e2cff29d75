/* numpy.random.RandomState(seed).shuffle() of a list, with which Keras'
 * image_dataset_from_directory() begins: a back-first Fisher-Yates shuffle, whose draws below a
 * bound are masked words, again until one fits (mtrand.pyx; random_interval(), distributions.c).
 * The generator is torch's; the first entry depends on all of its words.
 * Thread-safety: pure.
 */
#pragma once
#include <stdatomic.h>

#include "base/dl.h"

/* ret: n indices; about 8 ns each. */
void numpy_shuffle(uint32_t seed, uint32_t n, uint32_t *ret);

/* Of tf.data, behind it: of a larger one so little is left of the order that none is looked for. */
#define NUMPY_BUFFER_MOST 2048u

#define NUMPY_FIRST_LEAST 24u
#define NUMPY_FIRST_MOST 1024u
/* hit() for each seed in [from, to) whose shuffled list may begin with these of its n indices, in
 * any order, and as many others among them as n / 4; by chance one of 10^6 does.  Each draw of the
 * first ones would have taken one of them to the list's end with a chance of count / n: so it takes
 * n / count draws and a µs to refute a seed: 5 µs of 1.28 million from 1000 first ones.  Nothing is
 * tried with less than NUMPY_FIRST_LEAST of them, or n / 4; more than NUMPY_FIRST_MOST are not
 * looked at.  Returns early when *stop becomes true. */
int numpy_search(uint32_t n, const uint32_t *first, size_t count, uint32_t from, uint32_t to,
		 const _Atomic bool *stop, void (*hit)(void *context, uint32_t seed),
		 void *context) DL_MUST_CHECK;
