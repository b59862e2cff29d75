/* What recoding says of a file. */
#pragma once
#include <stdlib.h>

#include "base/buf.h"
#include "prefetch/recode/recode.h"

static const struct recode_want at_95 = { .quality_ratio = 0.95 };

static inline enum recode_reason try_it(const struct buf *b)
{
	struct recoded r;
	enum recode_reason reason = recode(&at_95, b->at, b->len, &r);

	if (reason == RECODE_DONE)
		free(r.data);
	return reason;
}
