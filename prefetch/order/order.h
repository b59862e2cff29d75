/* An order says in which sequence an epoch reads the samples of a list.  This folder does no
 * I/O, reads no clock and takes no lock.
 *
 *   spec      what the user said: "torch:seed=7"
 *   epoch     one epoch's rule, a value: "randperm of generator seed 0x5eed after 2 words"
 *   sequence  what the rule gives for n samples: list indices in the order of their opens
 *
 * A spec seldom says all: torch:seed=7 may mean torch.manual_seed(7) or a Generator given to
 * the DataLoader or to its sampler, and a validation loader moves the default generator on.
 * So a spec gives several epochs that may come first, likeliest first, and each epoch
 * several that may follow; the tracker lets the first opens decide.
 *
 * Algorithms: PyTorch's MT19937RNGEngine.h, TensorFactories.cpp (randperm), sampler.py,
 * distributed.py, dataloader.py.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/order/std_shuffle.h"

enum order_kind {
	ORDER_NONE, ORDER_AUTO, ORDER_SEQUENTIAL, ORDER_TORCH, ORDER_TORCH_DISTRIBUTED,
	ORDER_LIST, ORDER_DRAWN,
};

#define ORDER_RANKS_MAX 4096
#define ORDER_EPOCHS_MAX 1000000

struct order_spec {
	enum order_kind kind;
	uint64_t seed;
	/* Epochs are numbered from 0, as the epochs of a script are. */
	uint64_t epoch;                /* the one that comes first */
	uint64_t epochs;               /* of the run: the last is epochs - 1; 0: not said */
	uint32_t world;                /* torch-distributed */
	uint32_t *ranks;               /* those on this host, ascending; owned; NULL: all */
	uint32_t rank_count;
	bool drop_last;
	uint32_t piece, reservoir;     /* drawn: samples, see draw.h; 0: as the memory allows */
	char *root;                    /* folder below the mount, or NULL: found out; owned */
	char *file;                    /* list; owned */
	char *text;                    /* as it was given; owned */
};

/* none | auto | sequential | torch:seed=S | torch-distributed:seed=S,world=W[,ranks=0+1+3|0-3]
 * [,drop_last] | list:FILE | drawn[:seed=S][,epoch=E][,piece=N][,reservoir=N]; each but none,
 * auto, list and drawn with [,epoch=E][,epochs=N][,root=FOLDER].
 * Numbers are decimal or 0x; seeds may be negative, as in torch.  -EINVAL with a sentence in
 * reterr (what is wrong and what would be right); *ret is empty then.
 */
int order_parse(const char *text, struct order_spec *ret, char reterr[160]) DL_MUST_CHECK;
void order_spec_fini(struct order_spec *s);
int order_spec_copy(const struct order_spec *s, struct order_spec *ret) DL_MUST_CHECK;

enum epoch_rule {
	EPOCH_SEQUENTIAL, EPOCH_TORCH, EPOCH_DISTRIBUTED,
	EPOCH_NUMPY,                   /* numpy_shuffle(seed), read through a buffer: Keras */
	EPOCH_LISTED, EPOCH_DRAWN,
};

struct epoch {                         /* a value: copy freely */
	enum epoch_rule rule;
	uint64_t number;               /* which epoch this is, from spec.epoch on */
	/* EPOCH_TORCH: randperm from MT19937(seed) after `skip` words.  chained: seed itself is
	 * word `word` of the default generator MT19937(spec.seed), `stride` words on; else with
	 * auto stride: of these words so many came with the epoch before; 0: not known. */
	uint32_t seed;
	uint64_t skip;
	bool chained;
	uint64_t word, stride;
	/* With auto: or no torch, but this; skip: epochs that the program has read before it. */
	enum std_shuffle shuffle;
	uint32_t buffer;               /* EPOCH_NUMPY: see struct sequence */
	bool perhaps;                  /* seldom so: nothing is fetched before it has begun */
};

#define ORDER_BRANCHES 8
/* The epochs that may come first, and those that may follow `now`; likeliest first.
 * Returns how many (at most ORDER_BRANCHES, at least 1; 0 for none and auto, of which a rule was
 * found that says nothing of the next epoch).  After the last of `epochs` come, perhaps, number
 * 0 and the first again: the same script, started once more.
 */
size_t order_first(const struct order_spec *s, uint32_t n, struct epoch *ret);
size_t order_next(const struct order_spec *s, uint32_t n, const struct epoch *now,
		  struct epoch *ret);
#define ORDER_SEEDS_CHOSEN (1u << 24)   /* larger seeds are drawn, not written into a script */
/* Seeds that are built in: those of torch.Generator(), Ultralytics with and without ranks, and
 * detectron2 (-1). */
#define ORDER_CONSTANTS 6
extern const uint32_t order_constants[ORDER_CONSTANTS];
/* "torch.randperm, seed 7" for people. */
int order_describe(const struct order_spec *s, const struct epoch *e, struct buf *ret)
	DL_MUST_CHECK;

/* Reference counted, immutable; counts are atomic. */
struct sequence {
	_Atomic unsigned refs;
	uint32_t length;               /* positions; may differ from n (padding, replacement) */
	uint32_t n;                    /* indices are below this */
	uint32_t step; /* from one position of a reader to its next: ranks in turn */
	/* Not 0: readers take any of so many, and the next position takes its place. */
	uint32_t buffer;
	struct sequence_pieces *pieces;        /* owned; NULL: each sample is fetched on its own */
	uint32_t at[];                 /* the list index that is read at each position */
};
/* What the source reads in one go: indices from begin[k] to begin[k + 1]. */
struct sequence_pieces {
	uint32_t count;
	uint32_t reservoir;            /* samples that may be held */
	uint32_t *where;               /* index → position; owned */
	uint32_t begin[];              /* count + 1 */
};
struct sequence *sequence_new(uint32_t length, uint32_t n);     /* NULL: no memory */
struct sequence *sequence_ref(struct sequence *s);
void sequence_unref(struct sequence *s);
static inline void sequence_unrefp(struct sequence **s) { sequence_unref(*s); }

/* The sequence of one epoch.  Not for EPOCH_LISTED, which has its sequences read already, and
 * EPOCH_DRAWN, which needs to know more than n: order_drawn().
 * -ENOTSUP: n at which torch uses another algorithm (>= 214748364); or 2^26 draws, which would take
 * a second.
 */
int order_sequence(const struct order_spec *s, const struct epoch *e, uint32_t n,
		   struct sequence **ret) DL_MUST_CHECK;
/* Only the first positions of it (fewer than `length` if the epoch is shorter), in O(length)
 * time and memory after the generator's skip: a sparse Fisher-Yates shuffle.  Of a std::shuffle
 * or numpy's, which settle their first entries last, in the time of the whole. */
int order_prefix(const struct order_spec *s, const struct epoch *e, uint32_t n, uint32_t length,
		 struct sequence **ret) DL_MUST_CHECK;
/* The sequence of an EPOCH_DRAWN of n samples.  borders: see draw.h. */
int order_drawn(const struct order_spec *s, const struct epoch *e, uint32_t n,
		const uint32_t *borders, size_t border_count, struct sequence **ret) DL_MUST_CHECK;
