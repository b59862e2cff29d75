/* What a dataset costs on this machine, measured on a sample of its own files: how fast they
 * come, how fast they are decoded, and what each quality ratio makes of them.
 *
 * The sample is uniform over all regular files (of PROFILE_POOL, drawn by their inodes, one of
 * each part in the order of sizes), and the same one each time.  What is read is first dropped from
 * the page cache, so the source is measured and not the memory.
 *
 * Thread-safety: one call at a time on a profile; it makes threads of its own and ends them.
 */
#pragma once
#include "base/buf.h"
#include "prefetch/manifest/manifest.h"
#include "prefetch/recode/recode.h"

#define PROFILE_RATIOS 8
#define PROFILE_WAYS (PROFILE_RATIOS + 1)
#define PROFILE_POOL 4096              /* files, at most, that anything is measured with */
#define PROFILE_SPEEDS 4               /* 1, 4, 16, 64 at once */
#define PROFILE_SHOWN 4                /* images whose crops are in the report */
#define PROFILE_CROP 160               /* pixels a side */

struct profile_options {
	const char *source;            /* absolute path of a folder */
	const char *layers;            /* of the source, see source.h; NULL or "": none */
	double ratios[PROFILE_RATIOS];   /* 1 first: how it is without recoding */
	unsigned ratio_count;
	unsigned max_short_side;       /* 0: no scaling */
	unsigned sample;               /* files that are decoded and recoded; 0: 100
					* to 400, fewer if they are large */
	const _Atomic bool *stop;      /* end soon when it becomes true (-ECANCELED); or NULL */
	/* On the calling thread, now and then; may be NULL. */
	void (*progress)(void *context, const char *what, uint64_t done, uint64_t all);
	void *context;
};

struct profile_speed {                 /* of the source */
	unsigned parallel;             /* fetches at once */
	uint64_t fetches;
	double files_s, bytes_s;
	double median, slow;           /* seconds of a fetch; 99 of 100 are faster than slow */
	double cpu;                    /* seconds of one core a fetch */
};

struct profile_image {                 /* one file of the sample, one way */
	enum recode_reason reason;
	uint64_t size;                 /* of what is served, bytes */
	double ssim, psnr;             /* against the source, luma; 1 and 0 if it is as it was;
					* psnr is 0 for what was scaled, too */
	double decode, recode;         /* seconds of one core */
};

struct profile_crop { struct buf png; };       /* empty: it cannot be shown */

struct profile_way {                   /* one ratio */
	double ratio;
	bool whole;                    /* the source as it is, first, beside ways that scale */
	struct profile_image *images;  /* profile.sample of them */
	struct profile_crop crops[PROFILE_SHOWN];
	double size, decode, recode;   /* means over the sample */
	double decode_error, recode_error;     /* the mean of all files is within so many seconds
						* of it in 95 of 100 cases; 0: not known */
	double ssim, psnr;             /* means over what was recoded; 0: nothing was, or (psnr)
					* some were scaled */
	double ssim_least;
	unsigned recoded;
};

struct profile {
	uint64_t files, bytes;         /* of the dataset */
	double cores;                  /* that this process may use */
	bool apart;                    /* see predict.h */
	struct profile_speed speeds[PROFILE_SPEEDS];
	unsigned speed_count;
	sample_id *ids;                /* of the sample */
	char **names;                  /* their paths below the source */
	uint64_t *sizes;               /* theirs in the source */
	unsigned sample, decoded;      /* decoded: how many of them are images that we can decode */
	double size;                   /* mean of sizes[] */
	struct profile_way ways[PROFILE_WAYS];
	unsigned way_count;
};

/* -ENODATA: no regular file with content there; -EACCES: or it may not be read; -ECANCELED; else of
 * reading the source. */
int profile_measure(const struct profile_options *options, struct profile *ret) DL_MUST_CHECK;
void profile_fini(struct profile *p);

/* The fastest that the source was seen to be, files/s; 0: nothing was fetched. */
double profile_fetch_rate(const struct profile *p);
