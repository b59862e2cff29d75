/* What libstdc++ 12.2 makes of 0 … n-1 by std::shuffle with the seeds of DALI's readers; DALI 2.4
 * was seen to open 300 files in both orders.  DIVIDED: as the text of libstdc++ 10 says.  hash: as
 * in vectors.h.
 */
#pragma once
#include "prefetch/order/std_shuffle.h"

static const struct shuffled {
	enum std_shuffle how;
	uint32_t epoch, n, first[3];
	uint64_t hash;
} shuffles[] = {
	{ STD_SHUFFLE, 0, 1, { 0, 0, 0 }, 0xaf63bd4c8601b7df },
	{ STD_SHUFFLE_EACH, 0, 1, { 0, 0, 0 }, 0xaf63bd4c8601b7df },
	{ STD_SHUFFLE_EACH, 2, 1, { 0, 0, 0 }, 0xaf63bd4c8601b7df },
	{ STD_SHUFFLE, 0, 2, { 1, 0, 0 }, 0x082f2207b4e88cc4 },
	{ STD_SHUFFLE_EACH, 0, 2, { 0, 1, 0 }, 0x08328707b4eb6e3a },
	{ STD_SHUFFLE_EACH, 2, 2, { 1, 0, 0 }, 0x082f2207b4e88cc4 },
	{ STD_SHUFFLE, 0, 3, { 1, 0, 2 }, 0xd0a3991867273472 },
	{ STD_SHUFFLE_EACH, 0, 3, { 0, 2, 1 }, 0xd94645186c0967b2 },
	{ STD_SHUFFLE_EACH, 2, 3, { 2, 0, 1 }, 0xeaa0071875df2b5a },
	{ STD_SHUFFLE, 0, 10, { 5, 9, 1 }, 0x5d261b773c76d6d0 },
	{ STD_SHUFFLE_EACH, 0, 10, { 9, 6, 0 }, 0x35ab06ff228941b2 },
	{ STD_SHUFFLE_EACH, 2, 10, { 4, 5, 9 }, 0xadbcc40c9370dd7c },
	{ STD_SHUFFLE, 0, 11, { 10, 0, 2 }, 0x0a7ed169d0fd64e0 },
	{ STD_SHUFFLE_EACH, 0, 11, { 8, 2, 7 }, 0x72b3e019ced9c3f2 },
	{ STD_SHUFFLE_EACH, 2, 11, { 8, 3, 1 }, 0x237197c16a3b309e },
	{ STD_SHUFFLE, 0, 300, { 30, 198, 59 }, 0xd32cd0e9980bbddd },
	{ STD_SHUFFLE_EACH, 0, 300, { 119, 134, 165 }, 0xb6c1128ffa9c7eff },
	{ STD_SHUFFLE_EACH, 2, 300, { 126, 45, 240 }, 0x0408a8b9f6efd99b },
	{ STD_SHUFFLE, 0, 1000, { 30, 812, 788 }, 0x84ff0f833d1dfbb3 },
	{ STD_SHUFFLE_EACH, 0, 1000, { 119, 696, 907 }, 0x718310b6cc4c41a7 },
	{ STD_SHUFFLE_EACH, 2, 1000, { 811, 126, 857 }, 0x91b6147b1ce5c6c5 },
	{ STD_SHUFFLE, 0, 65535, { 31810, 27215, 38673 }, 0xc82ae68565a0b5dc },
	{ STD_SHUFFLE, 0, 65536, { 14022, 20650, 4767 }, 0x8d3edde9a9b2bcbb },
	{ STD_SHUFFLE_EACH, 0, 65536, { 64383, 59250, 1412 }, 0xab7a9d2c6669a3cb },
	{ STD_SHUFFLE_EACH, 2, 65536, { 11109, 22197, 6245 }, 0x3b8c35af6bcfab95 },
	{ STD_SHUFFLE, 0, 100000, { 14022, 67989, 4767 }, 0x89f0aa292267391f },
	{ STD_SHUFFLE_EACH, 0, 100000, { 64383, 59250, 73309 }, 0xd8d8eb493c2d6cf7 },
	{ STD_SHUFFLE_EACH, 2, 100000, { 11109, 77665, 6245 }, 0xa56668e6c75c1a83 },
	{ STD_SHUFFLE_DIVIDED, 0, 10, { 5, 9, 1 }, 0x5d261b773c76d6d0 },
	{ STD_SHUFFLE_DIVIDED, 0, 1000, { 533, 812, 788 }, 0x8ba39c7541dccec9 },
	{ STD_SHUFFLE_DIVIDED, 0, 65536, { 14022, 20650, 4767 }, 0x55fd37be812cb2c9 },
	{ STD_SHUFFLE_EACH_DIVIDED, 1, 1000, { 906, 191, 305 }, 0x028c9219e2626b77 },
};

/* What numpy 2.4.6 makes of list(range(n)) by RandomState(seed).shuffle(). */
static const struct numpy_shuffled {
	uint32_t n, seed, first[3];
	uint64_t hash;
} numpy_shuffles[] = {
	{ 1, 0u, { 0, 0, 0 }, 0xaf63bd4c8601b7df },
	{ 2, 1u, { 0, 1, 0 }, 0x08328707b4eb6e3a },
	{ 3, 123u, { 0, 1, 2 }, 0xd949aa186c0c4928 },
	{ 10, 42u, { 8, 1, 5 }, 0xc52dda6de76b25b2 },
	{ 11, 999999u, { 2, 3, 0 }, 0xf882abf3a4af7ff8 },
	{ 64, 7u, { 18, 2, 40 }, 0xd8b5d511f68d5495 },
	{ 65, 7u, { 27, 2, 41 }, 0x36e65a1c527c8ffd },
	{ 300, 1337u, { 62, 216, 211 }, 0x05acb7da4c808609 },
	{ 1000, 523910u, { 599, 856, 723 }, 0xc60bc48727a91a6d },
	{ 65536, 42u, { 63127, 41103, 3989 }, 0x83a75558fdae5db5 },
	{ 65537, 4294967295u, { 24985, 35173, 15998 }, 0xc7de8210475ec3bd },
	{ 100000, 999999u, { 17864, 35754, 13500 }, 0x12fd82fc6bf071e7 },
};
