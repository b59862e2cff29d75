#define LANES 4
#define BLOCK seeds_block_portable
#include "prefetch/order/seeds_block.h"
