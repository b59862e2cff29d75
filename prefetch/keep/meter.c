/* What a request and a byte cost: least squares over windows of a busy source. */
#include "prefetch/keep/keep.h"

#define WINDOW 16                      /* fetches that end a window */
#define FADE 0.995                     /* of the sums, a window: some 200 windows count */
#define WINDOWS_LEAST 8

/* Of its request and its bytes both are positive, or one is all of it. */
static struct keep_cost solve(const struct keep_meter *m)
{
	double det = m->nn * m->bb - m->nb * m->nb;
	struct keep_cost c = { 0, 0 };

	/* All windows have the same mean size: then a request and its bytes are one thing. */
	if (det > 1e-6 * m->nn * m->bb) {
		c.request_ns = (m->nt * m->bb - m->bt * m->nb) / det;
		c.byte_ns = (m->bt * m->nn - m->nt * m->nb) / det;
		if (c.request_ns >= 0 && c.byte_ns >= 0)
			return c;
	}
	if (c.request_ns <= 0)
		return (struct keep_cost){ 0, m->bt / m->bb };
	return (struct keep_cost){ m->nt / m->nn, 0 };
}

struct keep_cost keep_meter_cost(const struct keep_meter *m)
{
	if (m->windows < WINDOWS_LEAST || m->bb <= 0)
		return (struct keep_cost){ 0, 0 };
	return solve(m);
}

static void end_window(struct keep_meter *m, uint64_t now)
{
	double n = (double)m->ended, b = (double)m->bytes, t = (double)(now - m->begun);

	m->nn = m->nn * FADE + n * n;
	m->nb = m->nb * FADE + n * b;
	m->bb = m->bb * FADE + b * b;
	m->nt = m->nt * FADE + n * t;
	m->bt = m->bt * FADE + b * t;
	m->windows++;
	m->measured += m->ended;
	m->ended = m->bytes = 0;
	m->begun = now;
}

void keep_meter_began(struct keep_meter *m, uint64_t now)
{
	if (m->flying++ == 0)
		m->begun = now;
}

void keep_meter_ended(struct keep_meter *m, uint64_t now, uint64_t bytes)
{
	m->flying--;
	m->ended += bytes > 0;
	m->bytes += bytes;
	if (m->ended > 0 && (m->ended == WINDOW || m->flying == 0))
		end_window(m, now);
}
