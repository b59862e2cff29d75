/* libjpeg's way to give up, made safe: its errors and warnings end a step with a reason.
 *
 * error_exit() must not return, so it jumps out to jpeg_guard().  Nothing between the two may own
 * memory that is not in the libjpeg object or in what `context` points to.
 * Thread-safety: one thread at a time for a guard.
 */
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

#include "prefetch/recode/recode.h"

struct jpeg_guard {
	struct jpeg_error_mgr manager;         /* first: libjpeg points to it */
	jmp_buf out;
	enum recode_reason reason;
	struct recode_room *room;
};

/* For the `err` of a libjpeg object. */
struct jpeg_error_mgr *jpeg_guard_init(struct jpeg_guard *g, struct recode_room *room);

/* Run step(context).  RECODE_DONE, or why it was left in its midst. */
enum recode_reason jpeg_guarded(struct jpeg_guard *g, void (*step)(void *), void *context);

/* Leave the step that is under way. */
void jpeg_leave(struct jpeg_guard *g, enum recode_reason reason) __attribute__((noreturn));
