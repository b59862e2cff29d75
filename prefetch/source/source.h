/* A source is where the original bytes come from.
 *
 * Sources stack: a layer is a source whose `next` is another one.  Adding a kind of storage
 * means adding one file to this folder and one line to source.c.  The bottom of the stack is
 * a folder, read through io_uring or, where that is not allowed, by a pool of threads.  At the
 * top there may be what is kept on a local disk (kept.c).
 *
 * Thread-safety: submit, hurry and depth on any thread.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/manifest/manifest.h"

struct source;
struct disk;
struct meter;
struct served;
struct source_options;

/* One read in flight.  The caller owns it and leaves it alone until done() runs; done()
 * runs exactly once, on a thread of the source, with no source lock held, and must not block.
 */
struct fetch {
	sample_id id;
	uint64_t offset;               /* from here ... */
	size_t len;                    /* ... so many bytes; offset + len <= the sample's size */
	bool whole;                    /* all that is served of it; len is set before done() */
	uint64_t due;                  /* urgency; lower first; 0: a reader waits */
	bool in_turn;                  /* source_hurry() leaves it its place, for QUEUE_PATIENCE */
	struct buf bytes;              /* empty before; exactly len on success, empty otherwise */
	int result;                    /* 0 or -errno, set before done().  -ESTALE: the file is
	                                * not the version that the manifest knows; -ENOENT: it
	                                * is gone; both are definite.  -ESHUTDOWN, -ETIMEDOUT:
	                                * the source was closed meanwhile. */
	bool kept;                     /* the bytes are those kept on the local disk */
	bool stored;                   /* they are there, or will be soon */
	void (*done)(struct fetch *f);
	/* the source's own: */
	uint64_t stamp_;
	void *own_;
	uint64_t hurried_;             /* when a reader came to wait for it; 0: none has */
};

struct source_ops {
	const char *name;
	size_t size;                   /* sizeof the implementation; open() gets it zeroed */
	/* Of a layer with arguments: an example of all of them, and whether these are some; or
	 * -EINVAL. */
	const char *takes;
	int (*check)(const char *args);

	int (*open)(struct source *s);
	/* Start f, sooner the lower its due.  0: done() will run.  -ESHUTDOWN, -ENOMEM: f was
	 * not taken.  Any number may be queued; the source keeps so many in flight as help. */
	int (*submit)(struct source *s, struct fetch *f);
	/* A fetch of id that still waits in the queue becomes due now; one that is to be read
	 * in its turn, after a while.  Optional. */
	void (*hurry)(struct source *s, sample_id id, uint64_t offset);
	/* How many fetches keep this source busy (its own bound on what is in flight). */
	unsigned (*depth)(const struct source *s);
	/* From now on submit says -ESHUTDOWN.  What still waits ends with -ESHUTDOWN; every
	 * fetch taken has had its done() when this returns (within 5 s: what hangs is given up
	 * with -ETIMEDOUT).  A stack is stopped from the bottom up, so that no layer waits for
	 * a fetch that hangs below it. */
	void (*stop)(struct source *s);
	/* Free what open() made; after stop().  open() itself cleans up when it fails. */
	void (*close)(struct source *s);
};

struct source {                        /* first member of every implementation */
	const struct source_ops *ops;
	struct source *next;           /* owned; NULL at the bottom of the stack */
	const struct manifest *manifest;
	/* borrowed during open() only: */
	const char *args;              /* of this layer */
	const struct source_options *options;
};

struct source_options {
	const struct manifest *manifest;
	const char *layers;            /* in front of the folder, for tests; NULL or "": none */
	/* The local disk, borrowed: whole samples go there, and come from there.  Until *current
	 * the manifest may be an old one, and the source is asked whether the version of it that
	 * the disk has is still the right one.  NULL: none. */
	struct disk *disk;
	const _Atomic bool *current;
	/* What images are coded anew, borrowed; NULL: none. */
	struct served *served;
	/* ns: as long after its last change a file may change again within the same tick of the
	 * clock of its times, so that it looks the same; it is not kept before. */
	uint64_t settle;
	struct meter *meter;           /* borrowed; with a disk: measures what is below it */
};

/* Open a stack.  Of the layers the first is on top; they are separated by '|'.
 *
 *     slow:latency=10ms,parallel=64,bandwidth=100MB/s,every=1,seek=8ms    (all optional)
 *     fault:errno=EIO,every=7                                    every 7th fails
 *     threads, uring      as the last one: which kind of folder, instead of what works here
 *
 * -EINVAL: no such layer or argument.
 */
int source_open(const struct source_options *options, struct source **ret) DL_MUST_CHECK;
/* Whether there are such layers; "" is fine.  -EINVAL: a sentence in reterr says what would be
 * right; -ENOMEM. */
int source_check_layers(const char *layers, char reterr[160]) DL_MUST_CHECK;
/* -EINVAL: id is no regular file, or the range is not in it; else as source_ops. */
int source_submit(struct source *s, struct fetch *f) DL_MUST_CHECK;
void source_hurry(struct source *s, sample_id id, uint64_t offset);
unsigned source_depth(const struct source *s);
void source_close(struct source *s);   /* the whole stack; NULL is fine */
