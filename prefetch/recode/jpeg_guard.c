#include "prefetch/recode/jpeg_guard.h"

#include <jerror.h>

static void on_error(j_common_ptr c)
{
	struct jpeg_guard *g = (struct jpeg_guard *)c->err;

	jpeg_leave(g, g->manager.msg_code == JERR_OUT_OF_MEMORY ? RECODE_NO_MEMORY
								: RECODE_DAMAGED);
}

/* A warning means that something was lost or made up.  Who decodes the original sees that. */
static void on_message(j_common_ptr c, int level)
{
	if (level < 0)
		on_error(c);
}

static void print_nothing(j_common_ptr c)
{
	(void)c;
}

struct jpeg_error_mgr *jpeg_guard_init(struct jpeg_guard *g, struct recode_room *room)
{
	g->room = room;
	jpeg_std_error(&g->manager);
	g->manager.error_exit = on_error;
	g->manager.emit_message = on_message;
	g->manager.output_message = print_nothing;
	return &g->manager;
}

enum recode_reason jpeg_guarded(struct jpeg_guard *g, void (*step)(void *), void *context)
{
	if (setjmp(g->out))
		return g->reason;
	step(context);
	return RECODE_DONE;
}

void jpeg_leave(struct jpeg_guard *g, enum recode_reason reason)
{
	g->reason = reason;
	longjmp(g->out, 1);
}
