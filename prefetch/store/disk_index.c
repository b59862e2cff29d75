#include "prefetch/store/disk_index.h"

#include <lmdb.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "prefetch/store/disk_entry.h"
#include "prefetch/store/disk_grace.h"
#include "prefetch/store/disk_trust.h"

#define ERRNO_MAX 4096
#define READERS 1000u                  /* at once; they fit into the lock file */
#define GRACE (100 * CLOCK_MS)

struct index {
	MDB_env *env;
	MDB_dbi dbi;
	char *folder;
	size_t page;
	uint64_t most;                 /* bytes of data.mdb */
	struct grace readers;
	_Atomic bool broken;           /* by what LMDB says; not to be used by the next open */
	bool abandoned;
};

static const char mark_key[] = "mark"; /* shorter than a disk_key */

/* --- Open and close ------------------------------------------------------------------------ */

/* LMDB's own errors are negative and far from ours, system errors positive. */
static int fault(struct index *ix, int error)
{
	switch (error) {
	case MDB_SUCCESS:
		return 0;
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_MAP_FULL:
	case MDB_TXN_FULL:
		return -ENOBUFS;
	case MDB_READERS_FULL:
		return -EAGAIN;
	default:
		if (error > 0 || error > -ERRNO_MAX)
			return error > 0 ? -error : error;
		if (!atomic_exchange(&ix->broken, true))
			trust_say(ix->folder, TRUST_NEVER);
		return -EBADMSG;
	}
}

/* A file that ends before the last page that it should have would be fatal as well; one that is
 * too large is of a store that had a larger size. */
static bool whole(struct index *ix, uint64_t most)
{
	MDB_envinfo info;
	MDB_stat stat;
	struct stat st;
	int fd;

	if (mdb_env_info(ix->env, &info) || mdb_env_stat(ix->env, &stat) ||
	    mdb_env_get_fd(ix->env, &fd) || fstat(fd, &st) < 0)
		return false;
	ix->page = stat.ms_psize;
	return (info.me_last_pgno + 1) * ix->page <= DL_MIN((uint64_t)st.st_size, most);
}

static int open_env(struct index *ix, const char *path, uint64_t most)
{
	MDB_txn *txn;
	int r = mdb_env_create(&ix->env);

	ix->most = most;
	if (r == 0)
		r = mdb_env_set_mapsize(ix->env, most);
	if (r == 0)
		r = mdb_env_set_maxreaders(ix->env, READERS);
	if (r == 0)
		r = mdb_env_open(ix->env, path, MDB_NOSYNC | MDB_NOTLS | MDB_NORDAHEAD, 0600);
	if (r == 0 && !whole(ix, most))
		r = MDB_CORRUPTED;
	if (r == 0)
		r = mdb_txn_begin(ix->env, NULL, MDB_RDONLY, &txn);
	if (r != 0)
		return r;
	r = mdb_dbi_open(txn, NULL, 0, &ix->dbi);
	mdb_txn_abort(txn);
	return r;
}

static void free_index(struct index *ix)
{
	if (ix->env)
		mdb_env_close(ix->env);
	free(ix->folder);
	free(ix);
}

static int open_once(const char *folder, uint64_t most, struct index **ret)
{
	struct index *ix = calloc(1, sizeof(*ix));
	char path[PATH_MAX];
	int r = trust_path(folder, "", path);

	if (!ix)
		return -ENOMEM;
	ix->folder = strdup(folder);
	if (!ix->folder)
		r = -ENOMEM;
	if (r == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		r = trust_lock_file(folder);
	if (r == 0)
		r = fault(ix, open_env(ix, path, most));
	if (r < 0)
		free_index(ix);
	else
		*ret = ix;
	return r;
}

int index_open(const char *folder, uint64_t most, struct index **ret)
{
	int r = trust_given(folder) ? open_once(folder, most, ret) : -EBADMSG;

	if (r == -EBADMSG) {
		r = trust_remove(folder);
		if (r == 0)
			r = open_once(folder, most, ret);
	}
	if (r == 0)
		trust_say(folder, TRUST_IN_BOOT);
	return r;
}

void index_close(struct index *ix)
{
	if (!ix)
		return;
	mdb_env_close(ix->env);
	ix->env = NULL;
	if (!ix->abandoned)
		trust_say(ix->folder, ix->broken ? TRUST_NEVER : TRUST_IF_SAME);
	free_index(ix);
}

bool index_broken(const struct index *ix)
{
	return ix->broken;
}

void index_abandon(struct index *ix)
{
	ix->abandoned = true;
}

uint64_t index_bytes(struct index *ix)
{
	MDB_envinfo info;

	if (mdb_env_info(ix->env, &info) != 0)
		return 0;
	return (info.me_last_pgno + 1) * ix->page + TRUST_FILES;
}

/* Pages that are free inside it are used first. */
uint64_t index_room(struct index *ix)
{
	uint64_t used;
	MDB_stat stat;

	if (mdb_env_stat(ix->env, &stat) != 0)
		return 0;
	used = (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) * ix->page;
	return used < ix->most ? ix->most - used : 0;
}

/* --- Entries ------------------------------------------------------------------------------- */

static MDB_val key_of(const struct disk_key *key)
{
	return (MDB_val){ sizeof(*key), (void *)(uintptr_t)key };
}

static int entry(const struct disk_key *key, const MDB_val *at, struct record *ret,
		  struct place *ret_place)
{
	return entry_unpack(key, at->mv_data, at->mv_size, ret, ret_place) ? 0 : MDB_CORRUPTED;
}

static int get(struct index *ix, MDB_txn *txn, const struct disk_key *key, struct record *ret,
	       struct place *ret_place)
{
	MDB_val k = key_of(key), v;
	int r = mdb_get(txn, ix->dbi, &k, &v);

	return r ? r : entry(key, &v, ret, ret_place);
}

/* The first that has so much of its key in common with this one, whose rest is zeros. */
static int get_from(struct index *ix, MDB_txn *txn, struct disk_key first, size_t common,
		    struct record *ret, struct place *ret_place)
{
	const struct disk_key wanted = first;
	MDB_val k = key_of(&first), v;
	MDB_cursor *cursor;
	int r = mdb_cursor_open(txn, ix->dbi, &cursor);

	if (r != 0)
		return r;
	r = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (r == 0 && (k.mv_size != sizeof(first) || memcmp(k.mv_data, &wanted, common) != 0))
		r = MDB_NOTFOUND;
	if (r == 0) {
		memcpy(&first, k.mv_data, sizeof(first));
		r = entry(&first, &v, ret, ret_place);
	}
	mdb_cursor_close(cursor);
	return r;
}

/* Parts lie side by side, `hash` being what a key begins with. */
static int get_any(struct index *ix, MDB_txn *txn, const struct disk_key *key, struct record *ret,
		   struct place *ret_place)
{
	struct disk_key first = { .hash = { key->hash[0], key->hash[1] } };

	return get_from(ix, txn, first, sizeof(first.hash), ret, ret_place);
}

static int get_of_source(struct index *ix, MDB_txn *txn, const struct disk_key *key,
			 struct record *ret, struct place *ret_place)
{
	struct disk_key first = { .hash = { key->hash[0] } };

	return get_from(ix, txn, first, sizeof(first.hash[0]), ret, ret_place);
}

static int look_up(struct index *ix, const struct disk_key *key, struct record *ret,
		   struct place *ret_place,
		   int (*how)(struct index *ix, MDB_txn *txn, const struct disk_key *key,
			      struct record *ret, struct place *ret_place))
{
	unsigned turn = grace_enter(&ix->readers);
	MDB_txn *txn;
	int r = mdb_txn_begin(ix->env, NULL, MDB_RDONLY, &txn);

	if (r == 0) {
		r = how(ix, txn, key, ret, ret_place);
		mdb_txn_abort(txn);
	}
	grace_leave(&ix->readers, turn);
	return fault(ix, r);
}

int index_get(struct index *ix, const struct disk_key *key, struct record *ret,
	      struct place *ret_place)
{
	return look_up(ix, key, ret, ret_place, get);
}

int index_any(struct index *ix, const struct disk_key *key, struct record *ret,
	      struct place *ret_place)
{
	return look_up(ix, key, ret, ret_place, get_any);
}

int index_of_source(struct index *ix, uint64_t source, struct record *ret,
		    struct place *ret_place)
{
	return look_up(ix, &(struct disk_key){ .hash = { source } }, ret, ret_place,
		       get_of_source);
}

static int end(MDB_txn *txn, int r)
{
	if (r == 0)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return r;
}

static int change(struct index *ix, MDB_txn *txn, struct index_change *c)
{
	struct entry_packed packed = entry_pack(&c->record, c->place);
	MDB_val key = key_of(&c->record.key), value = { sizeof(packed), &packed };
	int r = get(ix, txn, &c->record.key, &c->was, &c->old);

	if (r == MDB_NOTFOUND)
		c->old.segment = SEGMENT_NONE;
	else if (r != 0)
		return r;
	c->done = c->from.segment == SEGMENT_NONE || same_place(c->from, c->old);
	if (!c->done)
		return 0;
	return mdb_put(txn, ix->dbi, &key, &value, 0);
}

int index_apply(struct index *ix, struct index_change *changes, size_t count, struct mark mark)
{
	MDB_val key = { sizeof(mark_key), (void *)(uintptr_t)mark_key };
	MDB_val value = { sizeof(mark), &mark };
	MDB_txn *txn;
	int r;

	/* Pages that a reader may still see cannot be used again.  One that is put to sleep in its
	 * midst would let each change take new ones, and the file never gets smaller. */
	grace_wait(&ix->readers, clock_now() + GRACE);
	r = mdb_txn_begin(ix->env, NULL, 0, &txn);
	if (r != 0)
		return fault(ix, r);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = change(ix, txn, &changes[i]);
	if (r == 0)
		r = mdb_put(txn, ix->dbi, &key, &value, 0);
	return fault(ix, end(txn, r));
}

int index_forget(struct index *ix, const struct disk_key *key, struct place place)
{
	struct record was;
	struct place at;
	MDB_val k = key_of(key);
	MDB_txn *txn;
	bool found;
	int r = mdb_txn_begin(ix->env, NULL, 0, &txn);

	if (r != 0)
		return fault(ix, r);
	r = get(ix, txn, key, &was, &at);
	found = r == 0 && same_place(at, place);
	if (found)
		r = mdb_del(txn, ix->dbi, &k, NULL);
	r = fault(ix, end(txn, r));
	return r == 0 ? found : r == -ENOENT ? 0 : r;
}

static int each_entry(MDB_cursor *cursor, int (*each)(void *context, const struct record *r,
		      struct place place), void *context)
{
	MDB_val key, value;
	int r;

	while ((r = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		struct record record;
		struct disk_key k;
		struct place place;

		if (key.mv_size != sizeof(k))
			continue;
		memcpy(&k, key.mv_data, sizeof(k));
		r = entry(&k, &value, &record, &place);
		if (r == 0)
			r = each(context, &record, place);
		if (r == 1)
			r = mdb_cursor_del(cursor, 0);
		if (r != 0)
			return r;
	}
	return r == MDB_NOTFOUND ? 0 : r;
}

int index_each(struct index *ix, int (*each)(void *context, const struct record *r,
		struct place place), void *context)
{
	MDB_cursor *cursor;
	MDB_txn *txn;
	int r = mdb_txn_begin(ix->env, NULL, 0, &txn);

	if (r != 0)
		return fault(ix, r);
	r = mdb_cursor_open(txn, ix->dbi, &cursor);
	if (r == 0) {
		r = each_entry(cursor, each, context);
		mdb_cursor_close(cursor);
	}
	return fault(ix, end(txn, r));
}

struct mark index_mark(struct index *ix)
{
	MDB_val key = { sizeof(mark_key), (void *)(uintptr_t)mark_key }, value;
	struct mark mark = { 0 };
	MDB_txn *txn;

	if (mdb_txn_begin(ix->env, NULL, MDB_RDONLY, &txn) != 0)
		return mark;
	if (mdb_get(txn, ix->dbi, &key, &value) == 0 && value.mv_size == sizeof(mark))
		memcpy(&mark, value.mv_data, sizeof(mark));
	mdb_txn_abort(txn);
	return mark;
}
