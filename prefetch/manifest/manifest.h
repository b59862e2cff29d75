/* What the dataset is: every name, size, time and mode, as the source had them when its
 * folder was last read.
 *
 * Everything is in one address range that is reserved once, shared with child processes
 * (MAP_SHARED) and never moves.  Records are appended and published with one atomic store;
 * a published record never changes, except a folder's pointer to its newest listing.  So
 * readers take no lock, a serving process that is replaced finds all as it was, and node
 * numbers are the same afterwards.
 *
 *   folder   one directory: its attributes and its current listing (or none yet)
 *   listing  what a folder held at one moment: its entries, sorted by name as bytes
 *   entry    one name.  The entry number of anything that is not a folder is its sample_id:
 *            dense, never reused, arithmetic both ways
 *
 * A folder that changed gets a new listing.  What is unchanged in it keeps its entry; a changed
 * file is a new sample with a new node: bytes of two versions are never mixed, and who still
 * holds the old one is answered from the old record.
 *
 * A folder that cannot be read has an empty listing with the reason (-EACCES, -ENOENT), as
 * long as that is what the folder is; after an error that may pass (-EIO) it stays unread.
 * A single entry about which the source gives an error is left out until a refresh.
 *
 * Nodes (what the kernel calls them): folder f is f + 1 (the root is 1, FUSE_ROOT_ID);
 * entry e that is not a folder is (1 << 32) + e.
 *
 * Cost: 52 bytes an entry (up to half a byte more) and its name + 1; a folder 88 bytes more; a
 * listing that replaces another 72 bytes, and what is new: its 4 bytes for each entry are used
 * again once it is replaced itself.
 * Limits: 65536 different owners (-ENOSPC beyond); nlink of more than 65535 shows as 65535;
 * names over 255 bytes are left out.
 *
 * Thread-safety: every call on any thread.  Calls marked [reads] may read directories of
 * the source and so take as long as the source takes.
 */
#pragma once
#include <sys/types.h>
#include "base/buf.h"

struct manifest;
typedef uint64_t node_id;

#define NODE_ROOT UINT64_C(1)
#define NODE_FILES (UINT64_C(1) << 32)

static inline bool node_is_folder(node_id node) { return node < NODE_FILES; }
static inline node_id node_of_sample(sample_id id) { return NODE_FILES + id; }
static inline sample_id node_sample(node_id node) { return (sample_id)(node - NODE_FILES); }

#define ATTR_DEV_UNKNOWN UINT64_MAX

struct attr {
	node_id node;
	uint64_t size;                 /* bytes; of a symlink: of its text; of a folder: 4096 */
	uint64_t ino, dev;             /* the source's; what is not of it has dev 0, a file that is
					* on another device than its folder ATTR_DEV_UNKNOWN */
	int64_t mtime_ns, ctime_ns;
	uint32_t mode;                 /* with the type bits */
	uint32_t uid, gid, nlink;
};

struct manifest_options {
	const char *source;            /* absolute path of the dataset's folder */
	size_t reserve;                /* address space, bytes; 0: a good value */
	const char *hidden;            /* a name in that folder that is left out; stays; or NULL */
};

/* Reserve the range and read the root's own attributes.  Call before the first fork.
 * -ENOTDIR, -ENOENT, -EACCES: of the source.
 */
int manifest_open(const struct manifest_options *options, struct manifest **ret) DL_MUST_CHECK;
void manifest_close(struct manifest *m);        /* NULL is fine; other processes keep theirs */

/* Call once in a child that takes over from a dead one, before its threads start: what that one
 * was writing is abandoned. */
void manifest_take_over(struct manifest *m);

int manifest_root_fd(const struct manifest *m);         /* O_PATH; the manifest's */
const char *manifest_source(const struct manifest *m);  /* the path; the manifest's */

/* --- Asking --------------------------------------------------------------------------- */

/* [reads] the folder if it has no listing yet.  -ENOENT, -ENOTDIR, -ESTALE: no such node. */
int manifest_lookup(struct manifest *m, node_id folder, const char *name, struct attr *ret)
	DL_MUST_CHECK;
int manifest_attr(const struct manifest *m, node_id node, struct attr *ret) DL_MUST_CHECK;
/* What stat() is to show as the inode of a node of the manifest.  All nodes have one device there,
 * so the source's number would not do for what is mounted below the root: programs take files of
 * equal numbers for links of one file, and folders for a loop.  Links of a file that is on another
 * device than the folder it lies in are shown as files of their own. */
uint64_t manifest_inode(const struct manifest *m, const struct attr *a);

/* Go through the current listing, in the order of names.  A cookie stands for the name that it came
 * with: a reader that goes on after a refresh gets what comes after that now, and so all that has
 * not changed, once.  cookie 0 starts.  1: *ret filled, go on with ret->cookie; 0: the end.
 * [reads] if there is no listing yet.
 */
struct manifest_dirent {
	const char *name;              /* the manifest's; valid as long as it is */
	uint64_t cookie;
	bool old;                      /* the folder has a newer listing by now */
	struct attr attr;
};
int manifest_next(struct manifest *m, node_id folder, uint64_t cookie,
		  struct manifest_dirent *ret) DL_MUST_CHECK;

/* Append the path below the root, without a leading slash ("" for the root). */
int manifest_path(const struct manifest *m, node_id node, struct buf *ret) DL_MUST_CHECK;
/* The node that has this path, resolving no symlinks.  [reads] */
int manifest_resolve(struct manifest *m, const char *path, node_id *ret) DL_MUST_CHECK;
/* Append the text; -EINVAL: no symlink. */
int manifest_readlink(const struct manifest *m, node_id node, struct buf *ret) DL_MUST_CHECK;

/* Of a node that there is (manifest_attr() says so).  The root is its own parent, with the name "";
 * names stay as long as the manifest. */
node_id manifest_parent(const struct manifest *m, node_id node);
const char *manifest_name(const struct manifest *m, node_id node);

/* Size of a regular file; false for anything else (folder, symlink, FIFO, no such entry). */
bool manifest_sample(const struct manifest *m, sample_id id, uint64_t *ret_size);
uint32_t manifest_entries(const struct manifest *m);    /* all sample_ids are below this */
/* It is what its name stands for now: no newer version is known, nor that it is gone. */
bool manifest_is_newest(const struct manifest *m, sample_id id);
/* What its name stands for now; false, and itself, where that is a folder or nothing. */
bool manifest_newest(const struct manifest *m, sample_id id, sample_id *ret);

/* --- Filling -------------------------------------------------------------------------- */

/* Called for each folder whose listing replaced an older one, on the calling thread, with
 * no lock held: old names may be known to the kernel.  The old listing can be looked at until
 * manifest_release(). */
struct manifest_change {
	void (*replaced)(void *context, struct manifest *m, node_id folder,
			 uint32_t old_listing, uint32_t new_listing);
	void *context;
};

#define MANIFEST_THREADS 16            /* for who does not know better: most wait for a server */

/* [reads] Read every folder that has no listing yet, with `threads` threads.  Folders that
 * cannot be read now are passed over, except the root.
 * *stop: give up soon when it becomes true (-ECANCELED); NULL is fine.  Afterwards
 * manifest_scanned().
 */
int manifest_scan(struct manifest *m, unsigned threads, const _Atomic bool *stop) DL_MUST_CHECK;
bool manifest_scanned(const struct manifest *m);

/* [reads] Look for changes: folders whose mtime or ctime moved are read again; with
 * `files`, each file of the others is stat()ed too.  A file that appeared, vanished or
 * changed (size, mtime, ctime, inode) makes a new listing.  Returns how many folders changed.
 * Folders that cannot be read now stay as they are known, as in a scan.
 */
int manifest_refresh(struct manifest *m, unsigned threads, bool files,
		     const struct manifest_change *change, const _Atomic bool *stop) DL_MUST_CHECK;
/* The same for the one folder: a file in it was found to be another version. */
int manifest_refresh_folder(struct manifest *m, node_id folder,
			    const struct manifest_change *change) DL_MUST_CHECK;

/* Nobody will look at the old listing of a change any more: its places are for later ones.  Once
 * for each change that was told, on any thread. */
void manifest_release(struct manifest *m, uint32_t old_listing, uint32_t new_listing);
/* Names and nodes of a listing that there is, by name, for telling the kernel what to forget.
 * -ENOENT: it has not so many. */
int manifest_listing_entry(const struct manifest *m, uint32_t listing, uint32_t place,
			   struct manifest_dirent *ret) DL_MUST_CHECK;

/* --- Saving --------------------------------------------------------------------------- */

/* Write to path, as file_replace(), after a scan (-EAGAIN before). */
int manifest_save(struct manifest *m, const char *path) DL_MUST_CHECK;
/* Read back into a manifest that has no listing yet; then it is scanned.  Lookups may come
 * meanwhile, they wait.  A file that is damaged, of another source (path, device, inode) or
 * another version, or most of which is old: -ESTALE, nothing loaded.  It is checked (xxhash,
 * every number and offset) before any of it is believed.
 */
int manifest_load(struct manifest *m, const char *path) DL_MUST_CHECK;

/* Regular files in the tree, their bytes, and those of the pages they take; bytes in use: records
 * and names, old ones too (not the reservation). */
struct manifest_usage {
	uint64_t files, bytes, paged, folders, record_bytes, name_bytes;
};
struct manifest_usage manifest_usage(const struct manifest *m);
/* How many folders have an empty listing because they may not be read, and the first of them. */
uint64_t manifest_refused(const struct manifest *m, node_id *ret_first);
