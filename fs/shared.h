/* What outlives a serving process: one shared mapping, made before the first fork.
 *
 * Written by whoever the comment names; read by all.  A server that takes over finds it as
 * the dead one left it, so nothing here needs a lock to be consistent.
 * Thread-safety: atomics, and each other member has one writer.
 */
#pragma once
#include "prefetch/judge.h"
#include "prefetch/order/standing.h"

#define SHARED_INIT_MAX 4096
#define SHARED_SPEC_MAX 4096

struct shared {
	struct stats stats;                    /* server: counters */
	_Atomic bool answering;                /* server: INIT was answered */
	_Atomic bool checked;                  /* server: the manifest was compared with the source,
	                                        * or shall not be */
	_Atomic bool crashed;                /* supervisor: a server died of one: a page of the
	                                        * store's index could not be read */
	_Atomic uint32_t init_len;             /* server: the kernel's INIT, for the next one */
	uint8_t init[SHARED_INIT_MAX];
	/* server: of .dlfs, so far; the kernel may know nodes of those that a dead one made */
	_Atomic uint64_t texts;
	_Atomic uint32_t spec_turn;            /* server: which of specs is the last one told */
	char specs[2][SHARED_SPEC_MAX];        /* "" : the configuration's */
	struct standing_kept standing;         /* server: in the order that was told last */
	struct judge judge;                    /* server: opens that are to be judged */
	char error[256];                       /* server: why the start failed, for the parent */
	char note[384];                        /* server: what is amiss although it started */
};

int shared_new(struct shared **ret) DL_MUST_CHECK;      /* zeroes; -ENOMEM */
void shared_free(struct shared *s);    /* NULL is fine; other processes keep theirs */
/* The order that was told last, "" for none.  On the errand thread only: what shared_spec() gave
 * is written over by the next but one. */
void shared_set_spec(struct shared *s, const char *spec);
const char *shared_spec(const struct shared *s);
