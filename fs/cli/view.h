/* A report of a mount (.dlfs/stats.json), read.  Keys may lead into objects: "order.spec".
 * Thread-safety: one thread at a time for a view.
 */
#pragma once
#include "base/buf.h"

struct view;
/* 0, or an exit code, and the user was told why. */
int view_read(const char *mountpoint, struct view **ret) DL_MUST_CHECK;
/* Of a JSON object; takes the text, which ends with a NUL that is not counted.  -EINVAL, -ENOMEM */
int view_parse(struct buf *text, struct view **ret) DL_MUST_CHECK;
void view_free(struct view *v);        /* NULL is fine */
static inline void view_freep(struct view **v) { view_free(*v); }
double view_number(const struct view *v, const char *key);      /* 0 if it is not there */
const char *view_text(const struct view *v, const char *key);   /* "" if it is not there */
struct bytes view_source(const struct view *v);        /* as it came */
