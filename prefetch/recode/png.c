#include "prefetch/recode/kinds.h"

enum recode_reason recode_png(const struct recode_want *want, struct bytes source,
			      struct recoded *ret)
{
	(void)want, (void)source, (void)ret;
	return RECODE_OFF;
}
