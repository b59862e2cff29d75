#define LANES 16
#define GROUP 8
#define BLOCK seeds_block_avx512
#include "prefetch/order/seeds_block.h"
