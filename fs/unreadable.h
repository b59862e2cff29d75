/* What of the source this process may not read: most likely it was mounted by the wrong user.
 * Thread-safety: unreadable_look() on the thread of serve.errands, unreadable_note() on the main
 * one, unreadable_count() on any.
 */
#pragma once
#include "fs/serve.h"

/* Count it (stats.def), once the dataset is known and after it has changed; a warning if there is
 * more than before.  Folders as they were found; files by mode, owner and group: the first
 * thousand that may not be read so are asked for, and if one may be (access control lists), those
 * behind them are not counted. */
void unreadable_look(struct serve *s);
/* "2 folders and 1 file", without what there is none of.  Returns ret. */
const char *unreadable_count(uint64_t folders, uint64_t files, char ret[64]);
/* At the start: what unreadable_look() warned of, if it comes within a moment; else "". */
void unreadable_note(struct serve *s, char *ret, size_t size);
