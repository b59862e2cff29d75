#include "prefetch/find/vain.h"

#include "base/clock.h"

#define MOST 3.0f                      /* whole searches, before the first pause */
#define PAUSE_NS (600 * CLOCK_S)
#define QUIET_NS (30 * CLOCK_S)
#define STRANGERS 6u                   /* opens by others: they are a job */

static void begin_anew(struct vain *v)
{
	v->searched = 0.0f;
	v->from = 0;
	v->rest_until = 0;
}

bool vain_open(struct vain *v, uint32_t pid, uint64_t now)
{
	bool other = pid == 0 && v->opened_at > 0 && now > v->opened_at + QUIET_NS;

	if (other)
		begin_anew(v);
	v->opened_at = now;
	return other;
}

static bool is_known(const struct vain *v, const struct evidence_reader *r)
{
	for (size_t i = 0; i < v->reader_count; i++) {
		const struct vain_reader *k = &v->readers[i];

		if (k->pid ? k->pid == r->pid : k->parent == r->parent)
			return true;
	}
	return false;
}

void vain_meet(struct vain *v, const struct evidence *e)
{
	unsigned opens = 0;

	for (size_t i = 0; i < e->reader_count; i++)
		if (e->readers[i].pid != 0 && !is_known(v, &e->readers[i]))
			opens += e->readers[i].opens;
	if (opens >= STRANGERS)
		begin_anew(v);
}

/* One alone may be a program that a shell has started, as it will the next. */
static void note(struct vain *v, const struct evidence_reader *r)
{
	if (is_known(v, r))
		return;
	for (size_t i = 0; r->parent != 0 && i < v->reader_count; i++)
		if (v->readers[i].parent == r->parent) {
			v->readers[i].pid = 0;
			return;
		}
	v->readers[v->oldest] = (struct vain_reader){ r->pid, r->parent };
	v->oldest = (v->oldest + 1) % EVIDENCE_READERS;
	v->reader_count = DL_MIN(v->reader_count + 1, (size_t)EVIDENCE_READERS);
}

void vain_searched(struct vain *v, const struct evidence *e, float share, uint64_t now)
{
	for (size_t i = 0; i < e->reader_count; i++)
		if (e->readers[i].pid != 0)
			note(v, &e->readers[i]);
	v->searched += share;
	if (v->searched < MOST)
		return;
	v->searched = MOST - 1.0f;
	v->rest_until = now + PAUSE_NS;
}

bool vain_rests(const struct vain *v)
{
	return v->opened_at < v->rest_until;
}
