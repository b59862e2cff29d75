/* The folder of a store.  Thread-safety: every call. */
#pragma once
#include "base/dl.h"

/* -ENOTEMPTY: it has files, and is no store. */
int disk_folder_check(int folder) DL_MUST_CHECK;
/* Made (0700) if it is not there.  A descriptor, or an error, of disk_folder_check() too. */
int disk_folder_open(const char *path) DL_MUST_CHECK;
