/* The places of listings are used again: once a listing was replaced, those of it are kept for a
 * later one of about as many entries.  Which are free only this process knows; what takes over
 * from it leaves them as they are. */
#include "base/clock.h"
#include "prefetch/manifest/internal.h"

struct free_places {
	uint32_t first, room;
	uint64_t since;
};

/* Eight sizes an octave, so that a folder that grows finds those that it had. */
uint32_t places_room(uint32_t count)
{
	uint32_t step = 1;

	while (count / step >= 16)
		step *= 2;
	return (count + step - 1) / step * step;
}

static bool take_free(struct manifest *m, uint32_t room, uint32_t *ret_first)
{
	struct free_places *f = (void *)m->free_places.at;
	size_t count = m->free_places.len / sizeof(*f);
	uint64_t now = clock_now();

	for (size_t i = 0; i < count; i++) {
		if (f[i].room != room || f[i].since + m->quarantine > now)
			continue;
		*ret_first = f[i].first;
		f[i] = f[count - 1];
		m->free_places.len -= sizeof(*f);
		return true;
	}
	return false;
}

int places_take(struct manifest *m, uint32_t count, uint32_t *ret_first)
{
	uint32_t room = places_room(count);

	dl_assert_held(&m->writer);
	if (room > 0 && take_free(m, room, ret_first))
		return 0;
	if (room > m->max_places - m->head->places)
		return -ENOSPC;
	*ret_first = m->head->places;
	return 0;
}

void places_give(struct manifest *m, uint32_t first, uint32_t count)
{
	struct free_places f = { first, places_room(count), clock_now() };
	int r;

	dl_assert_held(&m->writer);
	if (count == 0 || first < m->head->packed || first >= m->head->places)
		return;
	r = buf_append(&m->free_places, &f, sizeof(f));
	(void)r;                       /* without memory for it they are not used again */
}

void manifest_release(struct manifest *m, uint32_t old_listing, uint32_t new_listing)
{
	const struct listing *old = &m->listings[old_listing], *now = &m->listings[new_listing];

	if (old->first == now->first)  /* they share them */
		return;
	DL_HOLD(&m->writer);
	places_give(m, old->first, old->count);
}
