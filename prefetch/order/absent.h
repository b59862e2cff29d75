/* What of a sequence nobody comes for: files that are gone, and what ranks that read elsewhere, or
 * have ended, would open.  The tracker's.
 */
#pragma once
#include "prefetch/order/follow.h"

int absent_init(struct follow *f) DL_MUST_CHECK;
void absent_fini(struct follow *f);
/* Which files are gone, by another list. */
int absent_over(struct follow *f, struct list *list) DL_MUST_CHECK;
bool absent_lost(const struct follow *f, uint32_t position);    /* its file is gone */
bool absent_at(const struct follow *f, uint32_t position);      /* or its rank */
/* This position's rank is there; the same after an open that agrees, and who is not? */
void absent_greet(struct follow *f, uint32_t position, uint64_t now);
void absent_opened(struct follow *f, uint32_t position, uint64_t now);
void absent_again(struct follow *f);   /* when who opened what is forgotten; who is there is not */
void absent_after(struct follow *f, const struct follow *before);
