/* The first `length` entries of torch_randperm(g, n), in O(length).  length <= n.  -ENOMEM.
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

struct mt19937;
int sparse_randperm(struct mt19937 *g, uint32_t n, uint32_t length, uint32_t *ret) DL_MUST_CHECK;
