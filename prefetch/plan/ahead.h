/* How far big files are read ahead of their readers, in blocks, and for how long that is held.
 *
 * A window grows fourfold when its reader had to wait for the block after the one he had, and
 * only then: so it becomes as long as what he takes while the source answers.  Who is slower than
 * the source keeps a short one.  What was asked for ahead is not asked for again, unless it was let
 * go.  Then the window was longer than he, or the room, can make use of: it shrinks as it grew, and
 * grows beyond that by a block for each four that he takes.
 *
 * Threads that take the blocks of one file in turns are one reader: who reads where another's
 * window begins goes on with that.
 *
 * Pure: no I/O, no clock, no lock; time in ns.
 */
#pragma once
#include "base/clock.h"

#define AHEAD_STREAMS 64
#define AHEAD_PAUSE (10 * CLOCK_S)     /* a reader who asks for nothing so long is gone */

struct ahead_stream {
	sample_id id;
	uint32_t pid;
	uint32_t next;                 /* the block after the last one that was read */
	uint32_t run;                  /* the window: blocks from `next` on; 0: no run yet */
	bool was_let_go;
	uint32_t most, taken;          /* ... since then: the window then, and blocks read */
	uint32_t asked;                /* all before it were asked for */
	uint64_t seen;                 /* when the reader asked last; 0: this one is free */
};

struct ahead { struct ahead_stream streams[AHEAD_STREAMS]; };      /* zeros: nobody reads */

enum ahead_got { AHEAD_READY, AHEAD_COMING, AHEAD_ABSENT };        /* what the reader found */
struct ahead_range { uint32_t first, end; };    /* blocks; none, if they are the same */

/* A reader asks for a block: what to ask for ahead of him, then.  most: blocks of a window. */
struct ahead_range ahead_read(struct ahead *a, sample_id id, uint32_t pid, uint32_t number,
			      enum ahead_got got, uint32_t most, uint64_t now);
/* There was no room from this block on: the next read may ask for it. */
void ahead_no_room(struct ahead *a, sample_id id, uint32_t number);
/* Has somebody begun with it, not long ago? */
bool ahead_in_hand(const struct ahead *a, sample_id id, uint32_t number, uint64_t now);
/* Is somebody in the midst of it, or on his way to it?  in_run: who reads one after the other. */
bool ahead_wanted(const struct ahead *a, sample_id id, uint32_t number, bool in_run, uint64_t now);
