/* Samples made smaller, if they can be: independent zstd frames of at most 1 MiB of their bytes,
 * one after the other.
 */
#pragma once
#include "base/buf.h"

#define PACK_FRAME ((size_t)MiB)

/* One thread's. */
struct packer;
int packer_new(struct packer **ret) DL_MUST_CHECK;
void packer_free(struct packer *p);    /* NULL is fine */

/* The packed bytes, until the next call.  NULL: they are not so much fewer that it would be worth
 * the time to unpack them; a look at a few places tells most that are so.  level: 1 to 19. */
struct bytes packer_pack(struct packer *p, struct bytes in, int level);

/* Exactly `len` bytes.  -EBADMSG: they are not; -ENOMEM.  Every thread. */
int unpack(struct bytes packed, void *to, size_t len) DL_MUST_CHECK;
