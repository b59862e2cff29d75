/* The shortest code for symbols that come so often: no code longer than 16 bits, none all ones
 * (ITU-T T.81, annex K.2).
 *
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

#define HUFFMAN_BITS 16

struct huffman_code {
	uint8_t count[HUFFMAN_BITS + 1];       /* of codes of each length */
	uint8_t symbols[256];          /* the shortest first */
};

/* A symbol that never comes gets no code. */
void huffman_code(const uint32_t often[256], struct huffman_code *ret);
