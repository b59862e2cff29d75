#include "prefetch/recode/zigzag.h"

const uint8_t natural_order[64] = {
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* The bits of m, moved to where a row's columns lie in zigzag order. */
#define BIT(m, column, z) ((uint64_t)((m) >> (column) & 1) << (z))
#define ROW(m, a, b, c, d, e, f, g, h) (BIT(m, 0, a) | BIT(m, 1, b) | BIT(m, 2, c) \
	| BIT(m, 3, d) | BIT(m, 4, e) | BIT(m, 5, f) | BIT(m, 6, g) | BIT(m, 7, h))
#define ROWS4(m, ...) ROW(m, __VA_ARGS__), ROW(m + 1, __VA_ARGS__), ROW(m + 2, __VA_ARGS__), \
	ROW(m + 3, __VA_ARGS__)
#define ROWS16(m, ...) ROWS4(m, __VA_ARGS__), ROWS4(m + 4, __VA_ARGS__), \
	ROWS4(m + 8, __VA_ARGS__), ROWS4(m + 12, __VA_ARGS__)
#define ROWS64(m, ...) ROWS16(m, __VA_ARGS__), ROWS16(m + 16, __VA_ARGS__), \
	ROWS16(m + 32, __VA_ARGS__), ROWS16(m + 48, __VA_ARGS__)
#define ROWS256(...) { ROWS64(0, __VA_ARGS__), ROWS64(64, __VA_ARGS__), \
	ROWS64(128, __VA_ARGS__), ROWS64(192, __VA_ARGS__) }

const uint64_t zigzag_of_row[8][256] = {
	ROWS256(0, 1, 5, 6, 14, 15, 27, 28),
	ROWS256(2, 4, 7, 13, 16, 26, 29, 42),
	ROWS256(3, 8, 12, 17, 25, 30, 41, 43),
	ROWS256(9, 11, 18, 24, 31, 40, 44, 53),
	ROWS256(10, 19, 23, 32, 39, 45, 52, 54),
	ROWS256(20, 22, 33, 38, 46, 51, 55, 60),
	ROWS256(21, 34, 37, 47, 50, 56, 59, 61),
	ROWS256(35, 36, 48, 49, 57, 58, 62, 63),
};
