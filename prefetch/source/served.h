/* What is served of each file, where that may be something else than what the source has: images
 * that are coded anew.
 *
 * The size of such a file is known once it was coded, and is handed out then; so what is known here
 * is kept for the life of the mount, in memory that serving processes share, and in a file for the
 * next mount with the same settings and the same code (programs that differ may code differently).
 * It is about a sample_id, and so about one version of a file.
 *
 * Life of an entry:
 *
 *                 served_tell()                     served_forget()
 *     not known ----------------> as it is, or coded ---------------> broken
 *         ^                                                              |
 *         `------------------------ served_renew() ----------------------'
 *
 * Forgotten is only what turns out to be wrong: the content has changed, and nothing else of the
 * file.  Until the kernel was told to forget the size, nothing is served of it.
 *
 * Cost: 12 bytes a file, if anything is coded at all.
 * Thread-safety: every call on any thread, but open, close and limit.  s may be NULL everywhere:
 * then all is served as it is.
 */
#pragma once
#include "prefetch/manifest/manifest.h"
#include "prefetch/recode/recode.h"

struct served;

struct served_options {
	const struct manifest *manifest;
	struct recode_want want;       /* limits.memory: of all images at once; 0: the usual */
	const char *match;             /* as pattern_any(); "": all */
};

/* What of the memory of a mount (bytes) is for those who code images: a quarter of it, as long as
 * the processors can do with it.
 */
uint64_t served_share(uint64_t memory);

/* Call before the first fork.  *ret is NULL if nothing is to be coded. */
int served_open(const struct served_options *options, struct served **ret) DL_MUST_CHECK;
void served_close(struct served *s);
/* Larger files are served as they are.  The first call counts. */
void served_limit(struct served *s, uint64_t size);

const struct recode_want *served_wish(const struct served *s);
/* All memory that coding may take, want.limits.memory; 0: nothing is coded. */
uint64_t served_room(const struct served *s);
/* Names what the coded bytes depend on besides the source's: settings and programs. */
uint64_t served_recipe(const struct served *s);

/* It may be coded: by its name, path and size. */
bool served_wants(const struct served *s, sample_id id);

enum served_state { SERVED_AS_IT_IS, SERVED_CODED, SERVED_UNKNOWN };
struct served_file {
	enum served_state state;
	uint64_t size;                 /* served; of what is not known, the most that it may be */
	enum recode_reason reason;     /* AS_IT_IS; RECODE_OFF: it was never asked for */
	double ssim;                   /* CODED; 0: not known */
	unsigned quality;
};
/* -EINVAL: it is no regular file. */
int served_ask(const struct served *s, sample_id id, struct served_file *ret) DL_MUST_CHECK;
/* Its size, or as much as it may be; 0 for what is no regular file. */
uint64_t served_size(const struct served *s, const struct manifest *m, sample_id id);

/* What recode() said of a wanted file.  -ESTALE: something else is known of it, or it is broken. */
int served_tell(struct served *s, sample_id id, enum recode_reason reason,
		const struct recoded *coded) DL_MUST_CHECK;
void served_forget(struct served *s, sample_id id);
void served_renew(struct served *s, sample_id id);     /* if it is broken */

/* Whoever codes a file for the first time shall also time its decoding: one of so many. */
#define SERVED_TIMED_OF 16
bool served_wants_time(const struct served *s, sample_id id);
struct served_time {
	uint64_t files, source_bytes;  /* that were timed */
	uint64_t source_ns, ns;        /* processor time to decode them, and what is served */
};
void served_timed(struct served *s, const struct served_time *t);

struct served_report {
	uint64_t coded, coded_bytes, source_bytes;     /* of the coded ones */
	uint64_t source_decode_ns, decode_ns;          /* estimates for all of them; 0: none yet */
	uint64_t as_it_is[RECODE_REASONS];             /* files, by reason */
};
struct served_report served_report(const struct served *s);

/* -ESTALE: damaged, or of other settings or programs. */
int served_save(const struct served *s, const char *path) DL_MUST_CHECK;
/* After the manifest was loaded, and before anything is told. */
int served_load(struct served *s, const char *path) DL_MUST_CHECK;
/* How often something was told or forgotten: whether there is something to save. */
uint64_t served_turn(const struct served *s);
