/* Tells the engine which inodes the kernel knows, a moment (5 ms) after the reply that
 * introduced them: before that notify_store says ENOENT.
 * Thread-safety: announce_reply on any thread; never blocks.
 */
#pragma once
#include "fs/serve.h"

struct announce;
int announce_start(struct serve *s, struct announce **ret) DL_MUST_CHECK;
void announce_stop(struct announce *a);        /* replies may still come, and are dropped */
void announce_free(struct announce *a);
void announce_reply(struct announce *a, sample_id id);
