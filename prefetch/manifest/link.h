/* Symlinks inside the dataset, followed through what the manifest knows.  Reads nothing.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "prefetch/manifest/manifest.h"

/* Where a program that opens the link arrives: a folder, or an entry that is no link.
 * 0: nowhere that is known: it is broken, absolute, leads out of the dataset or round and round.
 */
node_id link_target(const struct manifest *m, sample_id link);
