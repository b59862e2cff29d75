/* A list numbers the samples of a subtree as a training program does: index 0 … count-1.
 * Immutable once made; reference counted, so that an order can outlive a refresh.
 *
 * LIST_IMAGE_FOLDER is torchvision's ImageFolder (0.10 and newer): classes are the folders
 * directly below `root` by name; below each, folders by their whole path string, in each
 * the files with an image extension (any case) by name; all compared as bytes.  So "a/b/1"
 * comes before "a/b-c/2".  Symlinks to files or folders inside the source are followed as
 * os.walk(followlinks=True) does (a link's target is the sample).  Whatever else has an image
 * extension takes up an index as well, since ImageFolder does not look at it before it reads:
 * for a broken link, one that leads out, a FIFO the list has its own entry, which
 * manifest_sample() says is no regular file.  What lies in a folder outside, to which a link
 * leads, is not known and not in the list.
 *
 * LIST_PATHS: the same files and those directly in the root, sorted by their whole path (HF
 * datasets, YOLO; sorted(glob()) of strings).
 * LIST_NATURAL: timm's order of its .jpg, .jpeg and .png: digits compared as numbers, letters
 * lower-cased; where that makes no difference ("1.jpg", "01.jpg") by name.
 * LIST_PARTS: the files of LIST_PATHS, folder by folder, a folder's where its name belongs among
 * the files: sorted() of pathlib's paths, and glob() unsorted.
 * LIST_WALK: as dlfs lists folders, a folder's files before its sub-folders (os.walk, rglob).
 * LIST_COMMON: of LIST_ALL those with the extension that most of them have.
 * LIST_ALL: every regular file once, by whole path; no link is followed.
 *
 * Sorted is what Python sorts: by code point, see name.h.
 *
 * Kept as runs of consecutive sample ids: a clean folder is one run, so index ↔ id is a
 * binary search over folders and no memory per file.  Where an order tears the runs apart, as
 * two tables of 4 bytes a file.
 *
 * Thread-safety: made by one thread; afterwards read by all.
 */
#pragma once
#include "prefetch/manifest/manifest.h"

enum list_kind {
	LIST_IMAGE_FOLDER, LIST_PATHS, LIST_NATURAL, LIST_PARTS, LIST_WALK, LIST_COMMON, LIST_ALL,
	LIST_KINDS,
};
struct list;

/* Needs a finished scan (-EAGAIN before).  -ENOENT: no such folder, or no file for the list below
 * it; -ENOTDIR; -ELOOP: links make the tree many times larger than it is. */
int list_new(struct manifest *m, enum list_kind kind, node_id root, struct list **ret)
	DL_MUST_CHECK;
/* The same files at the same indices, each as it is now; those that are gone as they were. */
int list_renew(const struct list *l, const struct manifest *m, struct list **ret) DL_MUST_CHECK;
/* Those were gone then: a bit an index; NULL: none.  The list's. */
const uint64_t *list_lost(const struct list *l);
static inline bool list_lost_at(const struct list *l, uint32_t index)
{
	const uint64_t *lost = list_lost(l);

	return lost && lost[index / 64] >> (index % 64) & 1;
}
struct list *list_ref(struct list *l);
void list_unref(struct list *l);       /* NULL is fine */
static inline void list_unrefp(struct list **l) { list_unref(*l); }

uint32_t list_count(const struct list *l);
sample_id list_at(const struct list *l, uint32_t index);        /* index < count */
/* The index of a sample; of one that the list has several times (links) always the same one. */
bool list_index(const struct list *l, sample_id id, uint32_t *ret_index);
node_id list_root(const struct list *l);
enum list_kind list_kind(const struct list *l);
/* Where the samples of another folder begin, ascending: indices.  The list's. */
const uint32_t *list_borders(const struct list *l, size_t *ret_count);
/* Find them out, before others have the list. */
int list_find_borders(struct list *l, const struct manifest *m) DL_MUST_CHECK;
bool list_same(const struct list *a, const struct list *b);    /* samples and order */
size_t list_bytes(const struct list *l);       /* of memory */

/* Folders below which a training program may well have its ImageFolder, likeliest first:
 * the root; its children (train before the others); grandchildren.  Only folders with
 * a sub-folder that holds files.  Returns how many.
 */
size_t list_roots(struct manifest *m, node_id *ret, size_t max);
/* The innermost folder below which most of these samples lie. */
node_id list_root_of(struct manifest *m, const sample_id *opened, size_t count);
/* The lists of this folder, and of those above, that a program may go through: likeliest first, no
 * two the same; the caller's refs.  Takes as long as sorting the names does. */
size_t list_candidates(struct manifest *m, node_id root, struct list **ret, size_t max);
