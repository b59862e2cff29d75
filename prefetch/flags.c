#include "prefetch/flags.h"

#include <stdatomic.h>

static _Atomic uint8_t *place(struct flags *f, sample_id id, bool make)
{
	_Atomic(_Atomic uint8_t *) *chunk = &f->chunks[id / FLAGS_CHUNK];
	_Atomic uint8_t *at = atomic_load(chunk), *fresh;

	if (!at && make) {
		fresh = calloc(FLAGS_CHUNK, 1);
		if (!fresh)
			return NULL;
		if (atomic_compare_exchange_strong(chunk, &at, fresh))
			at = fresh;
		else
			free((void *)fresh);
	}
	return at ? &at[id % FLAGS_CHUNK] : NULL;
}

uint8_t flags_set(struct flags *f, sample_id id, uint8_t bits)
{
	_Atomic uint8_t *at = place(f, id, true);

	return at ? atomic_fetch_or(at, bits) : 0;
}

uint8_t flags_clear(struct flags *f, sample_id id, uint8_t bits)
{
	_Atomic uint8_t *at = place(f, id, false);

	return at ? atomic_fetch_and(at, (uint8_t)~bits) : 0;
}

uint8_t flags_get(struct flags *f, sample_id id)
{
	_Atomic uint8_t *at = place(f, id, false);

	return at ? atomic_load(at) : 0;
}

void flags_fini(struct flags *f)
{
	for (size_t i = 0; i < DL_COUNT(f->chunks); i++)
		free((void *)f->chunks[i]);
}
