/* Patterns that choose files, by their path below the root: fnmatch(3), where `*` and `?` match no
 * slash, and what matches a folder matches all that is in it.
 *
 *     *.jpg  val      a name, of a file or folder, anywhere
 *     train/d*        with a slash: from the root on; so does a leading slash: /val
 *
 * A leading "double star, slash" means anywhere, a trailing one all that is in there.
 *
 * Thread-safety: every call.
 */
#pragma once
#include "base/dl.h"

bool pattern_matches(const char *pattern, const char *path);
/* One of several, each ended by a line end; an empty list matches nothing. */
bool pattern_any(const char *patterns, const char *path);
/* NULL: it is one; else what is wrong, for people. */
const char *pattern_problem(const char *pattern);
