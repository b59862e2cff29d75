/* Patterns of the settings that match no file: most likely they were meant otherwise.
 * Thread-safety: that of survey_known(), where nothing else is said.
 */
#pragma once
#include "fs/serve.h"

/* A warning for each, once the dataset is known. */
void unmatched_warn(struct serve *s);
/* At the start, on the main thread: the first of these, if it comes within a moment; else "". */
void unmatched_note(struct serve *s, char *ret, size_t size);
