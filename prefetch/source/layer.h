/* What the files of this folder share with source.c.  Private to prefetch/source. */
#pragma once
#include "prefetch/source/source.h"

extern const struct source_ops source_uring, source_threads;    /* bottoms: a folder */
extern const struct source_ops source_slow, source_fault;       /* layers */
extern const struct source_ops source_recoding;                 /* above them */
extern const struct source_ops source_kept;                     /* the one on top of all */

/* The end of every fetch: checks what the contract promises, frees bytes of a failed one,
 * runs done().  No lock may be held. */
void layer_done(struct fetch *f, int result);

/* Go through the arguments of a layer, "key=value,key=value".  1: the next one; 0: the end;
 * -EINVAL: not of this form.  *at starts as the text (NULL is fine). */
struct layer_arg { char key[16], value[32]; };
int layer_next_arg(const char **at, struct layer_arg *ret) DL_MUST_CHECK;

/* A layer that looks at results hands a fetch of its own down. */
struct layer_fetch {
	struct fetch inner;
	struct fetch *outer;
};
/* Hand one that asks for the same down to `next`; done(&l->inner) then owns l. */
void layer_fetch_init(struct layer_fetch *l, struct fetch *outer, void (*done)(struct fetch *f));
/* Move result, bytes and length of the inner fetch to the outer one; the result. */
int layer_fetch_move(struct layer_fetch *l);
