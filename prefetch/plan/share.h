/* How much of the memory that dlfs may hold it holds now: less while others need memory, which
 * shows when the kernel drops what was pushed, or tells of stalls, or when less is free than that
 * (what waits in memory the kernel cannot drop); all of it again when that is over.
 *
 * Pure: no I/O, no clock, no lock; time in ns.
 */
#pragma once
#include "base/dl.h"

struct share {
	uint64_t most, least, room;    /* bytes */
	uint64_t fits, seen;           /* what is free for us, at most `most`; and when it was */
	uint64_t window, opens, lost;  /* of the running second, and when it began */
	uint64_t stepped, pressed;     /* when room changed last; when it was reduced last */
	uint64_t calm;                 /* so long nothing may happen before it grows */
};

void share_init(struct share *s, uint64_t most);
/* These say whether room has changed. */
bool share_opened(struct share *s, uint64_t now, bool lost);   /* one that had been pushed? */
bool share_pressed(struct share *s, uint64_t now);     /* somebody lacks memory */
bool share_fits(struct share *s, uint64_t now, uint64_t bytes);        /* no more has room now */
bool share_tick(struct share *s, uint64_t now);
/* When to call share_tick(), after a new share_fits() if there are any; or UINT64_MAX. */
uint64_t share_wake(const struct share *s);
