/* Patterns of the settings that match no file: most likely they were meant otherwise.
 * Thread-safety: that of survey_known().
 */
#pragma once
#include "fs/serve.h"

/* A warning for each, once the dataset is known. */
void unmatched_warn(struct serve *s);
