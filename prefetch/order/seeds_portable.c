#include "prefetch/order/seeds_block.h"
