/* Paths as texts: nothing is looked up, and no symlink followed.  Thread-safety: pure. */
#pragma once
#include "base/dl.h"

/* The folder itself, or what is in it; both absolute, without "." and "..". */
bool path_is_below(const char *path, const char *folder);
