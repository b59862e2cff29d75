/* Whether a mount can be as it was asked for: its places, its store, its order.
 *
 * All but mount_warn() return 0, or an exit code (CLI_MOUNT_FAILED) after the user was told why.
 * Thread-safety: none, one thread.
 */
#pragma once
#include "config/config.h"

/* What config/ made of a setting: an error, with its text in *e. */
int mount_said(int error, const struct config_error *e) DL_MUST_CHECK;
/* One setting. */
int mount_set(struct config *c, const char *key, const char *value) DL_MUST_CHECK;
/* Paths become absolute, without symlinks.  *ret_lock: see host_check_mountpoint(). */
int mount_check(struct config *c, int *ret_lock) DL_MUST_CHECK;
/* Tell what is allowed, but hardly meant. */
void mount_warn(const struct config *c);
