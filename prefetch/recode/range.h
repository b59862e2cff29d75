/* Coefficients that a picture can have, and that all decoders show as the same pixels.
 *
 * Broken Huffman codes are often codes as well: the decoder does not warn, but finds values that no
 * encoder wrote.  What they look like is then up to the decoder, and an SSIM that is reckoned from
 * them says nothing about what a reader sees.
 *
 * - Samples are -128 to 127 (T.81, A.3.1).  The DCT (A.3.3) weighs those of a row by 1/sqrt(8), or
 *   by cos((2x + 1) u pi / 16) / 2, and those of a column likewise.  The weights of a row, without
 *   their signs, sum up to sqrt(8) at most (u = 0 and u = 4).  So a coefficient is 8 * 128 = 1024
 *   at most, and half a step more when it was rounded.  An eighth more is allowed (a step, of DC):
 *   an encoder may let white overshoot by 31, so that edges in it do not ring (mozjpeg), or round
 *   as the code is shorter.  And a baseline file has 10 bits for a level of AC (F.1.2.2).
 * - libjpeg clamps pixels by a table of 1024 entries, by their ten lowest bits (jdmaster.c): right
 *   for -512 to 511 around the middle, what is further comes out on the other side.  Its SIMD code
 *   adds two numbers of 16 bits that are up to 32 times a pixel (jidctint), so up to 512 it is
 *   right, too; what is further it clamps, mostly.  An eighth of that is left to the errors of our
 *   result.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

#define RANGE_PIXEL 448                /* from the middle; black is at 128 */

/* The largest magnitude of each level; times its step it is below 4096. */
void range_most(const uint16_t steps[64], int16_t ret[64]);
