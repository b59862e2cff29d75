/* Whose open is it? */
#include "prefetch/order/tracker_internal.h"

bool give_successor(struct follow **at, size_t count, const struct seen *s)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t index, p;

		if (!list_index(at[i]->course.list, s->id, &index) ||
		    follow_judge(at[i], index, &p) != FOLLOW_SUCCEEDS)
			continue;
		follow_take(at[i], p, s->pid, s->time);
		return true;
	}
	return false;
}

static bool is_known(struct follow *const *at, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (follow_knows(at[i], pid))
			return true;
	return false;
}

/* An open that merely lies in windows: in that of its process, or in whichever there are, if it is
 * not known whose it is. */
static enum given give_within(struct follow **at, size_t count, const struct seen *s)
{
	bool known = is_known(at, count, s->pid);
	struct follow *windows[TRACKER_COURSES];
	uint32_t positions[TRACKER_COURSES], index, found = 0;

	for (size_t i = 0; i < count; i++)
		if ((!known || follow_knows(at[i], s->pid)) &&
		    list_index(at[i]->course.list, s->id, &index) &&
		    follow_judge(at[i], index, &positions[found]) == FOLLOW_WITHIN)
			windows[found++] = at[i];
	if (found == 1)
		follow_take(windows[0], positions[0], s->pid, s->time);
	for (size_t i = 0; found > 1 && i < found; i++)
		follow_perhaps(windows[i], positions[i]);
	return found > 0 ? GIVEN_PERHAPS : GIVEN_NOT;
}

enum given give(struct follow **at, size_t count, const struct seen *s, bool surely,
		bool *ret_listed)
{
	enum given given = GIVEN_NOT, within;

	for (size_t i = 0; i < count; i++) {
		enum follow_verdict v;
		uint32_t index, p;

		if (!list_index(at[i]->course.list, s->id, &index))
			continue;
		*ret_listed = true;
		v = follow_judge(at[i], index, &p);
		if (v == FOLLOW_SUCCEEDS || v == FOLLOW_CONTINUES) {
			follow_take(at[i], p, s->pid, s->time);
			return GIVEN_SURELY;
		}
		if (v == FOLLOW_AGAIN)
			given = GIVEN_AGAIN;
	}
	within = surely ? GIVEN_NOT : give_within(at, count, s);
	return within ? within : given;
}
