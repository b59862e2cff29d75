#include "fs/epoch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/command.h"

#define DIGITS 9                       /* of an entry's name */
#define UP "../../../"                 /* from an entry's folder to the mount */
#define JOB_MAX 64

/* Below EPOCH_NODES: 0 is /.dlfs/epoch; a folder has FOLDER, number, rank, world - 1; an entry
 * has ENTRY, number, sample: so whatever the dataset becomes, what the kernel keeps of a node's
 * link is true. */
#define FOLDER (UINT64_C(1) << 60)
#define ENTRY (UINT64_C(1) << 61)
#define BITS_NUMBER 20
#define BITS_RANK 12
#define BITS_ENTRY 32                  /* a sample, or a position */

_Static_assert(ORDER_EPOCHS_MAX < 1 << BITS_NUMBER && ORDER_RANKS_MAX <= 1 << BITS_RANK,
	      "they have a place in a node");
_Static_assert(BITS_NUMBER + BITS_ENTRY <= 60, "so has an entry");

struct folder {                        /* /.dlfs/epoch/E,rank=R,world=W */
	uint64_t number;
	uint32_t rank, world;
};

static uint64_t bits(uint64_t node, unsigned from, unsigned count)
{
	return node >> from & ((UINT64_C(1) << count) - 1);
}

static node_id folder_node(const struct folder *f)
{
	return EPOCH_NODES | FOLDER | f->number << 2 * BITS_RANK |
		(uint64_t)f->rank << BITS_RANK | (f->world - 1);
}

static struct folder folder_of(node_id node)
{
	return (struct folder){
		.number = bits(node, 2 * BITS_RANK, BITS_NUMBER),
		.rank = (uint32_t)bits(node, BITS_RANK, BITS_RANK),
		.world = (uint32_t)bits(node, 0, BITS_RANK) + 1,
	};
}

static node_id entry_node(uint64_t number, sample_id id)
{
	return EPOCH_NODES | ENTRY | number << BITS_ENTRY | id;
}

static uint64_t entry_number(node_id node) { return bits(node, BITS_ENTRY, BITS_NUMBER); }
static sample_id entry_sample(node_id node) { return (sample_id)bits(node, 0, BITS_ENTRY); }

/* For who lists a folder as well, whose epoch may not have been drawn. */
static uint64_t entry_inode(uint64_t number, uint32_t position)
{
	return EPOCH_NODES | ENTRY | number << BITS_ENTRY | position;
}

/* --- Names ------------------------------------------------------------------------------ */

/* A decimal number as printf() would write it. */
static bool read_number(const char **at, uint64_t max, uint64_t *ret)
{
	const char *digit = *at;
	uint64_t value = 0;

	for (; isdigit((unsigned char)*digit) && value <= max; digit++)
		value = value * 10 + (uint64_t)(*digit - '0');
	if (digit == *at || value > max || (**at == '0' && digit > *at + 1))
		return false;
	*at = digit;
	*ret = value;
	return true;
}

static bool skip(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool skip_job(const char **at)
{
	size_t len = strcspn(*at, ",");

	*at += len;
	return len > 0 && len <= JOB_MAX;
}

static bool read_folder(const char *name, struct folder *ret)
{
	uint64_t rank = 0, world = 1;

	if (!read_number(&name, ORDER_EPOCHS_MAX, &ret->number))
		return false;
	if (skip(&name, ",job=") && !skip_job(&name))
		return false;
	if (skip(&name, ",rank=") &&
	    !(read_number(&name, ORDER_RANKS_MAX - 1, &rank) && skip(&name, ",world=") &&
	      read_number(&name, ORDER_RANKS_MAX, &world)))
		return false;
	ret->rank = (uint32_t)rank;
	ret->world = (uint32_t)world;
	return !*name && rank < world;
}

static uint32_t entries_of(const struct folder *f, const struct epoch_view *v)
{
	uint32_t n = list_count(v->list);

	return n > f->rank ? (n - f->rank - 1) / f->world + 1 : 0;
}

static bool read_entry(const struct folder *f, const struct epoch_view *v, const char *name,
		       uint32_t *ret_position)
{
	uint64_t entry = 0;

	for (int i = 0; i < DIGITS; i++) {
		if (!isdigit((unsigned char)name[i]))
			return false;
		entry = entry * 10 + (uint64_t)(name[i] - '0');
	}
	if (strcmp(name + DIGITS, v->extension) != 0 || entry >= entries_of(f, v))
		return false;
	*ret_position = f->rank + (uint32_t)entry * f->world;
	return true;
}

/* --- Nodes ------------------------------------------------------------------------------ */

static void fill(const struct serve *s, node_id node, mode_t mode, uint64_t size, uint32_t version,
		 struct attr *ret)
{
	struct attr root;

	/* A folder's mtime tells the kernel when a listing that it has kept is an old one. */
	control_folder(s, &root);
	*ret = (struct attr){
		.node = node, .ino = node, .size = size, .mode = mode,
		.mtime_ns = root.mtime_ns + version, .ctime_ns = root.ctime_ns + version,
		.uid = root.uid, .gid = root.gid, .nlink = S_ISDIR(mode) ? 2 : 1,
	};
}

static void fill_folder(const struct serve *s, node_id node, uint32_t version, struct attr *ret)
{
	fill(s, node, S_IFDIR | 0555, 4096, version, ret);
}

void epoch_root(const struct serve *s, struct attr *ret)
{
	fill_folder(s, EPOCH_NODES, 0, ret);
}

static int target(const struct serve *s, sample_id id, struct buf *ret)
{
	int r = buf_append(ret, UP, strlen(UP));

	return r < 0 ? r : manifest_path(s->manifest, node_of_sample(id), ret);
}

/* v: with its sequence. */
static int entry_attr(const struct serve *s, const struct epoch_view *v, uint64_t number,
		      uint32_t position, struct attr *ret)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	sample_id id;
	int r;

	if (position >= v->sequence->length)
		return -ESTALE;
	id = list_at(v->list, v->sequence->at[position]);
	r = target(s, id, &text);
	if (r < 0)
		return r;
	fill(s, entry_node(number, id), S_IFLNK | 0777, text.len, 0, ret);
	ret->ino = entry_inode(number, position);
	return 0;
}

int epoch_readlink(struct serve *s, node_id node, struct buf *ret)
{
	uint64_t size;

	if (!(node & ENTRY))
		return -EINVAL;
	if (!manifest_sample(s->manifest, entry_sample(node), &size))
		return -ESTALE;
	return target(s, entry_sample(node), ret);
}

static int known_entry_attr(struct serve *s, node_id node, struct attr *ret)
{
	dl_cleanup(epoch_view_fini) struct epoch_view v = { .list = NULL };
	uint32_t index;
	int r = engine_epoch_view(s->engine, entry_number(node), true, &v);

	if (r < 0)
		return r;
	if (!list_index(v.list, entry_sample(node), &index))
		return -ESTALE;        /* of an epoch over the dataset as it was */
	return entry_attr(s, &v, entry_number(node), v.sequence->pieces->where[index], ret);
}

int epoch_attr(struct serve *s, node_id node, struct attr *ret)
{
	dl_cleanup(epoch_view_fini) struct epoch_view v = { .list = NULL };
	int r = 0;

	if (node & ENTRY)
		return known_entry_attr(s, node, ret);
	if (node & FOLDER)
		r = engine_epoch_view(s->engine, folder_of(node).number, false, &v);
	if (r == 0)
		fill_folder(s, node, v.version, ret);
	return r;
}

/* --- Folders ---------------------------------------------------------------------------- */

static void resolved(struct serve *s, const struct epoch_view *v, uint64_t number,
		     uint32_t position)
{
	char spec[64];

	if (engine_resolved(s->engine, number, position,
			    list_at(v->list, v->sequence->at[position])))
		return;
	snprintf(spec, sizeof(spec), "drawn:epoch=%llu", (unsigned long long)number);
	command_follow(s, spec);
}

static int look_up_entry(struct serve *s, const struct folder *f, const char *name,
			 struct attr *ret)
{
	dl_cleanup(epoch_view_fini) struct epoch_view v = { .list = NULL };
	uint32_t position;
	int r = engine_epoch_view(s->engine, f->number, true, &v);

	if (r < 0)
		return r;
	if (!read_entry(f, &v, name, &position))
		return -ENOENT;
	r = entry_attr(s, &v, f->number, position, ret);
	if (r == 0)
		resolved(s, &v, f->number, position);
	return r;
}

int epoch_lookup(struct serve *s, node_id parent, const char *name, struct attr *ret)
{
	struct folder f;

	if (parent & ENTRY)
		return -ENOTDIR;
	if (strcmp(name, ".") == 0)
		return epoch_attr(s, parent, ret);
	if (strcmp(name, "..") == 0) {
		if (parent & FOLDER)
			epoch_root(s, ret);
		else
			control_folder(s, ret);
		return 0;
	}
	if (parent & FOLDER) {
		f = folder_of(parent);
		return look_up_entry(s, &f, name, ret);
	}
	return read_folder(name, &f) ? epoch_attr(s, folder_node(&f), ret) : -ENOENT;
}

/* Any number is an epoch: none of them is listed. */
int epoch_next(struct serve *s, node_id folder, uint64_t cookie, struct manifest_dirent *ret)
{
	static _Thread_local char name[DIGITS + EPOCH_EXTENSION_MAX + 2];
	dl_cleanup(epoch_view_fini) struct epoch_view v = { .list = NULL };
	struct folder f = folder_of(folder);
	uint32_t entry = cookie ? (uint32_t)(cookie - NODE_FILES) : 0;
	int r;

	if (folder & ENTRY)
		return -ENOTDIR;
	if (!(folder & FOLDER))
		return 0;
	r = engine_epoch_view(s->engine, f.number, false, &v);
	if (r < 0)
		return r;
	if (entry >= entries_of(&f, &v))
		return 0;
	snprintf(name, sizeof(name), "%0*u%s", DIGITS, entry, v.extension);
	/* "old": it has a number and a name, but nothing that the kernel could keep. */
	*ret = (struct manifest_dirent){
		.name = name, .cookie = NODE_FILES + entry + 1, .old = true,
	};
	fill(s, entry_inode(f.number, f.rank + entry * f.world), S_IFLNK | 0777, 0, 0,
	     &ret->attr);
	return 1;
}
