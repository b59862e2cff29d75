#define LANES 16
#define BLOCK seeds_block_avx512
#include "prefetch/order/seeds_block.h"
