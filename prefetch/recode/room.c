#include "prefetch/recode/room.h"

#ifdef __has_feature                   /* clang's way to say the same */
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#define ALIGNED 64
#define LARGE 8                        /* a piece of more than an 8th of a chunk */
#ifdef __SANITIZE_ADDRESS__
#define CHUNK 0                        /* each piece by itself, so that its bounds are watched */
#define KEEPS false
#else
#define CHUNK MiB
#define KEEPS true
#endif

struct chunk {
	struct chunk *before;
	size_t size, used;             /* this head included */
} __attribute__((aligned(ALIGNED)));

struct recode_room {
	struct chunk *latest;
	size_t kept;                   /* when it is empty, at most */
};

struct recode_room *recode_room_new(size_t kept)
{
	struct recode_room *room = calloc(1, sizeof(*room));

	if (room)
		room->kept = KEEPS ? kept : 0;
	return room;
}

/* What is large has a chunk of its own, behind the latest one, of which the rest is of use yet. */
static struct chunk *add_chunk(struct recode_room *room, size_t size)
{
	bool large = size > CHUNK / LARGE;
	struct chunk *c = aligned_alloc(ALIGNED, large ? size : CHUNK);
	struct chunk **at = large && room->latest ? &room->latest->before : &room->latest;

	if (!c)
		return NULL;
	*c = (struct chunk){ .before = *at, .size = large ? size : CHUNK, .used = sizeof(*c) };
	*at = c;
	return c;
}

static void drop_chunks(struct recode_room *room)
{
	struct chunk *c;

	while ((c = room->latest)) {
		room->latest = c->before;
		free(c);
	}
}

void *room_take(struct recode_room *room, size_t count, size_t size)
{
	struct chunk *c = room->latest;
	size_t all;
	void *ret;

	if (__builtin_mul_overflow(count, size, &all)
	    || __builtin_add_overflow(all, sizeof(struct chunk) + ALIGNED, &all))
		return NULL;
	all = (all - sizeof(struct chunk)) / ALIGNED * ALIGNED;
	if (!c || c->size - c->used < all)
		c = add_chunk(room, all + sizeof(struct chunk));
	if (!c)
		return NULL;
	ret = (char *)c + c->used;
	c->used += all;
	return ret;
}

/* Of several chunks one is made: the next image may be of the same size. */
void room_clear(struct recode_room *room)
{
	size_t all = 0;

	if (room->latest && !room->latest->before && room->latest->size <= room->kept) {
		room->latest->used = sizeof(struct chunk);
		return;
	}
	for (const struct chunk *c = room->latest; c; c = c->before)
		all += c->size;
	drop_chunks(room);
	if (all && all <= room->kept)
		(void)add_chunk(room, all);    /* if not, the next call will see */
}

void recode_room_free(struct recode_room *room)
{
	if (room)
		drop_chunks(room);
	free(room);
}
