#include "prefetch/plan/share.h"

#include "base/clock.h"

#define LEAST_PART 8                   /* of all */
#define FITS_LEAST_PART 64             /* where not even that is there */
#define FITS_PART 32                   /* of all: so little less than all is no lack */
#define FITS_AGAIN (4 * CLOCK_S)       /* then it is looked at again */
#define STEP CLOCK_S                   /* between two changes, so that the last can show */
#define GROWTH 16                      /* steps from nothing to all */
#define CALM_FIRST (5 * CLOCK_S)
#define CALM_MOST (80 * CLOCK_S)
#define LOST_MANY 8                    /* in a second, and ... */
#define LOST_PART 16                   /* ... this part of the opens */

void share_init(struct share *s, uint64_t most)
{
	*s = (struct share){
		.most = most, .least = most / LEAST_PART, .room = most, .fits = most,
		.calm = CALM_FIRST,
	};
}

/* If it came soon after growing, there was no room for that: the next try is later. */
static void reduce(struct share *s, uint64_t now, uint64_t room)
{
	if (s->pressed && now < s->stepped + 2 * STEP && s->stepped > s->pressed)
		s->calm = DL_MIN(s->calm * 2, CALM_MOST);
	s->room = room;
	s->stepped = s->pressed = now;
}

bool share_pressed(struct share *s, uint64_t now)
{
	if (s->room <= s->least || (s->stepped && now < s->stepped + STEP))
		return false;
	reduce(s, now, DL_MAX(s->room - s->room / 4, s->least));
	return true;
}

bool share_fits(struct share *s, uint64_t now, uint64_t bytes)
{
	s->fits = bytes >= s->most - s->most / FITS_PART ? s->most :
		DL_MAX(bytes, s->most / FITS_LEAST_PART);
	s->seen = now;
	if (s->room <= s->fits)
		return false;
	reduce(s, now, s->fits);
	return true;
}

bool share_opened(struct share *s, uint64_t now, bool lost)
{
	if (now >= s->window + CLOCK_S) {
		s->window = now;
		s->opens = s->lost = 0;
	}
	s->opens += !lost;
	s->lost += lost;
	return lost && s->lost >= LOST_MANY && s->lost * LOST_PART >= s->opens &&
		share_pressed(s, now);
}

uint64_t share_wake(const struct share *s)
{
	if (s->room == s->most)
		return UINT64_MAX;
	if (s->room == s->fits)
		return s->seen + FITS_AGAIN;
	return DL_MAX(s->pressed + s->calm, s->stepped + STEP);
}

bool share_tick(struct share *s, uint64_t now)
{
	if (s->room == s->fits || now < share_wake(s))
		return false;
	s->room = DL_MIN(s->room + s->most / GROWTH, s->fits);
	s->stepped = now;
	if (s->room == s->most)
		s->calm = CALM_FIRST;
	return true;
}
