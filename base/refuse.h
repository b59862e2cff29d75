/* Why something cannot be, for people: one sentence, with the cure.  Thread-safety: every call. */
#pragma once
#include "base/dl.h"

#define REFUSE_MAX 256                 /* bytes of a sentence, with its NUL; more is cut off */

/* Returns the error. */
int refuse(char reterr[REFUSE_MAX], int error, const char *format, ...) DL_PRINTF(3, 4);
