/* May the index's files be used as they are?  LMDB does not survive damaged ones.
 *
 * Nothing is ever synced: after a kill the page cache still has it all; after a power cut, that
 * is in another boot, an index that was not closed is not used any more.  One that was closed has
 * a checksum of the whole beside it, in index/state.
 *
 * Thread-safety: none.
 */
#pragma once
#include <limits.h>
#include "prefetch/store/disk.h"

enum trust {
	TRUST_NEVER,
	TRUST_IN_BOOT,                 /* as long as this kernel runs */
	TRUST_IF_SAME,                 /* as long as not a bit has changed: closed */
};

#define TRUST_LOCK_FILE ((off_t)(128 * KiB))
#define TRUST_FILES (TRUST_LOCK_FILE + 4 * KiB)        /* bytes of all but data.mdb */

int trust_path(const char *folder, const char *name, char path[PATH_MAX]) DL_MUST_CHECK;
void trust_say(const char *folder, enum trust trust);
bool trust_given(const char *folder);  /* or nothing is there at all */
int trust_remove(const char *folder) DL_MUST_CHECK;    /* all the files */
/* Before LMDB opens it: all of it is there, on the disk. */
int trust_lock_file(const char *folder) DL_MUST_CHECK;
