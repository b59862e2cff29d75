/* timm's natural order of paths: lower-cased, split into runs of digits and the rest; digits are
 * compared as numbers of any length, the rest by code point (A-Z lowered).  A digit run
 * and text never meet at the same place, since both sides begin with text, perhaps empty.
 * Equal keys ("1" and "01") keep the order they had.  Pure.
 */
#pragma once
#include "base/dl.h"

int natural_compare(const char *a, const char *b);
