#define LANES 8
#define GROUP 16
#define BLOCK seeds_block_avx2
#include "prefetch/order/seeds_block.h"
