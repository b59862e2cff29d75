/* The folder of a store.  Thread-safety: every call. */
#pragma once
#include "base/dl.h"

/* 1: it is a store; 0: there is nothing in it; -ENOTEMPTY: it has files, and is no store. */
int disk_folder_check(int folder) DL_MUST_CHECK;
/* Made (0700) if it is not there.  A descriptor, or an error, of disk_folder_check() too. */
int disk_folder_open(const char *path) DL_MUST_CHECK;
/* All bytes of the file system that it is in, or will be made in; 0: that cannot be asked. */
uint64_t disk_folder_size(const char *path);
