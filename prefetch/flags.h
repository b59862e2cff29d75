/* A byte of facts about each sample, for all threads: one byte a file, in chunks that are made
 * when first needed and never move.
 *
 * Thread-safety: every call on any thread; each is one atomic step, in one total order.
 */
#pragma once
#include "base/dl.h"

enum {
	FLAG_KNOWN = 1,                /* the kernel has its inode */
	FLAG_MEMORY = 2,               /* planned, ready, and waiting in the store */
	FLAG_PUSHING = 4,              /* the sink has it */
	FLAG_PAGE_CACHE = 8,           /* pushed */
	FLAG_DROP = 16,                /* to be dropped as soon as it is pushed */
	FLAG_KNOWN_ANEW = 32,          /* became known while it was being pushed */
	FLAG_READ = 64,                /* a reader was given some of it */
	FLAG_CACHED = 128,             /* all of it went to who had to ask: in the page cache */
	/* KNOWN and PUSHING are cleared in one step when a push ends: whoever tells meanwhile
	 * that it is known sees either both, and is heard, or neither. */
};

#define FLAGS_CHUNK (1u << 16)

struct flags {
	_Atomic(_Atomic uint8_t *) chunks[1u << 16];
};

/* All return the value before; without memory for a chunk nothing is remembered (0). */
uint8_t flags_set(struct flags *f, sample_id id, uint8_t bits);
uint8_t flags_clear(struct flags *f, sample_id id, uint8_t bits);
uint8_t flags_get(struct flags *f, sample_id id);
void flags_fini(struct flags *f);
