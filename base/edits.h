/* How far a word that was typed is from one that was meant.
 * Thread-safety: pure.
 */
#pragma once
#include "base/dl.h"

/* A letter more, less or other, or two that changed places, is one; words of 64 letters and more
 * are SIZE_MAX apart. */
size_t edits(const char *a, const char *b);
