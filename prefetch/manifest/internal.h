/* How the manifest lies in memory; private to this folder.
 *
 * Five tables and the names, each at a fixed place of one reserved range.  A table grows by
 * one writer at a time (manifest.writer): it writes all records of a listing above the
 * counters, then raises the counters, then stores the folder's pointer to the listing.  So
 * whatever lies below a counter is complete, and names only what is complete too.  A writer
 * that dies on the way leaves records that nobody has seen or that nothing names; only what
 * follows from the listings (detached, files, bytes) may then be behind, which `writing` tells.
 * Only places are written again: those of a listing that was replaced and released, and not before
 * `quarantine` has passed, in which whoever was just looking into it has long ended.
 */
#pragma once
#include <stdatomic.h>

#include "base/lock.h"
#include "prefetch/manifest/manifest.h"

#define NONE UINT32_MAX

struct record {                        /* an entry */
	uint64_t size;                 /* of a folder: its number */
	int64_t mtime_ns, ctime_ns;
	uint64_t ino;
	uint64_t name : 39;            /* offset; a symlink's text follows its name's NUL */
	uint64_t foreign : 1;          /* no folder, and of another device than the one it lies in:
					* a file that is mounted there, or as overlayfs has it */
	uint64_t name_len : 8;
	uint64_t owner : 16;
	uint16_t mode, nlink;          /* of more than 65535 names: 65535 */
	uint32_t folder;               /* that it lies in */
};
_Static_assert(sizeof(struct record) == 48, "an entry costs 48 bytes");

struct stamp {                         /* what tells that a folder is unchanged */
	uint64_t ino, dev;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode, uid, gid, nlink;
};

struct listing {
	/* In manifest.places, of which it has places_room(count), or `count` below head.packed;
	 * two listings may share them. */
	uint32_t first, count;
	uint32_t folder;
	int32_t error;                 /* why it could not be read: 0 or -errno */
	struct stamp stamp;            /* zeroes: not even that could be had */
	_Atomic int64_t read_at;       /* clock_wall() */
};

struct folder {
	_Atomic uint32_t listing;      /* the newest, + 1; 0: never read */
	uint32_t parent;               /* folder; of the root: itself */
	uint32_t entry;                /* its name in the parent; of the root: NONE */
	_Atomic uint32_t detached;     /* 1: the way from the root to it is broken, for good */
	uint64_t dev;                  /* of what its name stands for: the root of another file
					* system, where one is mounted there */
};

struct owner { uint32_t uid, gid; };
#define OWNERS_MAX 65536

struct head {                          /* at the start of the range */
	_Atomic uint32_t folders, listings, entries, owners, places;
	uint32_t packed;               /* places that were loaded: those are not used again */
	_Atomic uint64_t names;        /* bytes */
	_Atomic uint64_t files, bytes, paged;  /* as in struct manifest_usage */
	_Atomic bool scanned, writing;
	struct stamp root;
};

struct manifest {
	struct dl_lock writer;
	struct head *head;
	struct owner *owners;
	struct folder *folders;
	struct listing *listings;
	struct record *entries;
	uint32_t *places;              /* of each listing its entries' numbers, sorted by name */
	char *names;
	uint32_t max_folders, max_listings, max_entries, max_places;
	uint64_t max_names;
	void *range;
	size_t range_size;
	struct buf free_places;        /* struct free_places; under `writer` */
	uint64_t quarantine;           /* ns, before they are used again */
	char *source;
	const char *hidden;
	int root_fd;
};

/* A folder as it was just read, not yet published. */
struct draft_entry {
	struct record record;          /* .name is an offset into draft.names; .folder unset */
	struct owner owner;
	uint64_t dev;
};
/* A name, a symlink's text, and their NULs. */
static inline size_t draft_name_size(const struct draft_entry *x)
{
	return x->record.name_len + 1 + ((x->record.mode & 0170000) == 0120000 ?
					 x->record.size + 1 : 0);
}

struct draft {
	struct buf names, entries;     /* entries: struct draft_entry */
	struct stamp stamp;
	int error;
	bool refused;                  /* some entry, with -EACCES */
	int64_t read_at;
};

static inline uint32_t current_listing(const struct manifest *m, uint32_t folder)
{
	return atomic_load_explicit(&m->folders[folder].listing, memory_order_acquire) - 1;
}

/* NONE gives NULL. */
static inline const struct listing *listing_at(const struct manifest *m, uint32_t listing)
{
	return listing == NONE ? NULL : &m->listings[listing];
}

static inline uint32_t entry_in(const struct manifest *m, const struct listing *l, uint32_t place)
{
	return m->places[l->first + place];
}

static inline bool is_folder(const struct record *e) { return (e->mode & 0170000) == 0040000; }
static inline bool is_regular(const struct record *e) { return (e->mode & 0170000) == 0100000; }
static inline const char *name_of(const struct manifest *m, const struct record *e)
{
	return m->names + e->name;
}

/* The folder's listing, reading it if there is none: a number, or -errno. */
int64_t listing_ensure(struct manifest *m, uint32_t folder);
/* Entry number of a name in a listing, or NONE. */
uint32_t listing_find(const struct manifest *m, uint32_t listing, const char *name, size_t len);
/* The place of the first name that comes after this one, or how many there are. */
uint32_t listing_after(const struct manifest *m, uint32_t listing, const char *name);

/* -ENOENT and the like, which say what the folder is now, are told in ret->error; errors that
 * may pass (-EIO, -ENOMEM, ...) are returned, since nothing was learnt about the folder. */
int draft_read(const struct manifest *m, uint32_t folder, struct draft *ret) DL_MUST_CHECK;
int draft_stamp(const struct manifest *m, uint32_t folder, struct stamp *ret) DL_MUST_CHECK;
void draft_free(struct draft *d);
/* Make the draft the folder's listing if `expected` (+ 1; 0: none) still is, with the entries of
 * that one that are equal.  Returns the listing's number; -EAGAIN: another thread was
 * first and nothing happened; -ENOSPC. */
int64_t draft_publish(struct manifest *m, uint32_t folder, const struct draft *d,
		      uint32_t expected);
bool draft_same_entry(const struct manifest *m, const struct draft *d,
		      const struct draft_entry *x, const struct record *e);
bool draft_same_entries(const struct manifest *m, const struct draft *d, uint32_t listing);
bool draft_equals(const struct manifest *m, const struct draft *d, uint32_t listing);

/* Places for so many entries: they lie where the counter is, which the caller raises by
 * places_room(), or below it.  -ENOSPC.  By the writer. */
int places_take(struct manifest *m, uint32_t count, uint32_t *ret_first) DL_MUST_CHECK;
/* They are used again once the quarantine is over.  Those above the counter were never taken, and
 * those that were loaded lie close: both are left as they are. */
void places_give(struct manifest *m, uint32_t first, uint32_t count);
/* How many places a listing of so many takes. */
uint32_t places_room(uint32_t count);

/* A descriptor, no link on the way followed; -errno.  how_to: O_RDONLY | O_NOATIME (the latter
 * where it is allowed), or O_PATH. */
int folder_open(const struct manifest *m, uint32_t folder, int how_to) DL_MUST_CHECK;

/* Keep files, bytes and detached true after `now` has replaced `old` (or NONE); by the writer. */
void sums_replace(struct manifest *m, uint32_t folder, uint32_t old, uint32_t now);
/* The same for everything, from nothing. */
void sums_all(struct manifest *m);
