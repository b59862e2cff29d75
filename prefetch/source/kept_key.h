/* Under which key, and as which version, a sample is kept on the local disk.
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "prefetch/source/served.h"
#include "prefetch/store/disk.h"

uint64_t kept_source(const struct manifest *m);        /* hash[0] of all keys of a source */
int kept_key(const struct manifest *m, sample_id id, struct disk_key *ret) DL_MUST_CHECK;
/* Without the device: its number is another one after a boot, or a mount by NFS.  Images that are
 * coded anew have in its place how.  served may be NULL. */
struct disk_identity kept_identity(const struct served *served, sample_id id,
				   const struct attr *a);
/* On the disk, in the version that the manifest has. */
bool kept_has(struct disk *d, const struct manifest *m, const struct served *served, sample_id id);
