/* Bytes of an image in, fewer bytes (or bytes that decode faster) of the same image out.
 *
 * Pure: no I/O, no clock, no lock, no state that outlives a call, but for memory in a room.
 * Thread-safety: every call, on any thread; one at a time for a room.
 * Input is foreign: whatever it holds, a call ends with a reason, within its limits.
 */
#pragma once
#include "base/dl.h"

/* What one call may use; 0 stands for the default. */
struct recode_limits {
	uint64_t pixels;               /* of the source, width * height; 100 million */
	uint64_t memory;               /* bytes at once, see recode_need(); 512 MiB */
	uint64_t scans;                /* of a progressive image; 100 */
	uint64_t work;                 /* blocks of 8x8 to decode, times scans; 16 million */
};

struct recode_want {
	/* JPEG: the least mean SSIM of the result against the source (Wang et al. 2004: 11x11
	 * Gaussian of sigma 1.5, K1 0.01, K2 0.03, on luma).  0 < ratio <= 1, and 1 is off.
	 */
	double quality_ratio;
	/* JPEG: scaled down until the shorter, or the longer side is no longer than that.  0: off.
	 * SSIM is then against the scaled picture, and a ratio of 1 keeps the source's steps.
	 */
	unsigned max_short_side, max_long_side;
	bool png_fast;                 /* PNG: the same pixels, coded to be decoded fast */
	struct recode_limits limits;
};

/* Why the source is served as it is, for all but RECODE_DONE. */
enum recode_reason {
	RECODE_DONE,
	RECODE_OFF,                    /* nothing is wanted of this kind of file */
	RECODE_UNKNOWN,                /* neither a JPEG nor a PNG, whatever its name says */
	RECODE_NO_GAIN,                /* a JPEG not 5 % smaller, or not smaller once it is
	                                * scaled; a PNG not faster */
	RECODE_DAMAGED,                /* truncated, corrupt, decoded with a warning, or values
	                                * that no picture has */
	RECODE_COLOUR,                 /* RGB or CMYK: there is no luma; or luma of half size */
	RECODE_MPO,                    /* several pictures in one file */
	RECODE_TRAILER,                /* something follows the end of the image */
	RECODE_ARITHMETIC,             /* arithmetic coding: many programs cannot read it */
	RECODE_12BIT,
	RECODE_16BIT,
	RECODE_LOSSLESS,               /* also hierarchical */
	RECODE_ANIMATED,
	RECODE_CHUNKS,                 /* a PNG with chunks that may mean anything */
	RECODE_LIMITS,                 /* more pixels, scans, memory or work than allowed */
	RECODE_NO_MEMORY,
	RECODE_UNREADABLE,             /* never said by recode() */
	RECODE_REASONS,                /* how many there are */
};

struct recoded {
	void *data;                    /* the caller's, to free() */
	size_t size;
	double ssim;                   /* against the source, scaled; 1 for a PNG */
	unsigned quality;              /* about that of cjpeg -quality; 0 for a PNG */
	unsigned width, height;
};

/* *ret is written only with RECODE_DONE. */
enum recode_reason recode(const struct recode_want *want, const void *bytes, size_t size,
			  struct recoded *ret) DL_MUST_CHECK;

/* Memory that calls, one after the other, need not ask the system for again: as much as one took,
 * up to `kept` bytes.  NULL: there is none.
 */
struct recode_room;
#define RECODE_KEPT (16 * MiB)         /* more than most images take */
struct recode_room *recode_room_new(size_t kept) DL_MUST_CHECK;
void recode_room_free(struct recode_room *room);       /* NULL is fine */
enum recode_reason recode_in(struct recode_room *room, const struct recode_want *want,
			     const void *bytes, size_t size, struct recoded *ret) DL_MUST_CHECK;

/* The most memory (bytes, beside the source) that recode_in() takes for this source, and after that
 * picture_decode() of the source and of the result; both 0: it is served as it is.
 */
struct recode_need { uint64_t coding, decoding; };
struct recode_need recode_need(const struct recode_want *want, const void *bytes, size_t size);

/* "no gain"; a few words for a listing. */
const char *recode_reason_name(enum recode_reason reason);
