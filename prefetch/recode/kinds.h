/* One kind of image each; what recode() chooses from by the first bytes.  The contract is that
 * of recode(), with the limits filled in and a source that begins as its kind does.
 */
#pragma once
#include "prefetch/recode/recode.h"

enum recode_reason recode_jpeg(const struct recode_want *want, struct bytes source,
			       struct recode_room *room, struct recoded *ret);
enum recode_reason recode_png(const struct recode_want *want, struct bytes source,
			      struct recoded *ret);

/* RECODE_DONE and the memory that it takes; or why it is not even tried. */
enum recode_reason jpeg_wants(const struct recode_want *want, struct bytes source,
			      struct recode_need *ret);
enum recode_reason png_wants(const struct recode_want *want, struct bytes source,
			     struct recode_need *ret);
