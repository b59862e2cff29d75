/* One line, one level.  Only edges log: fs/, commands, the engine, and the thread of the disk
 * tier, since nobody waits for its answer; libraries return errors.
 *
 * A line goes to stderr as "dlfs: text" while a command runs in the foreground, and to
 * syslog once the process is a daemon.  Control characters in the text are escaped, so a file
 * name cannot forge a line.  Of a longer text the first 2047 bytes are kept.
 *
 * Thread-safety: every call, on any thread.  Never fails, never blocks for long.
 */
#pragma once
#include "base/dl.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
void log_to_syslog(void);              /* from now on; stderr until then */

void log_error(const char *format, ...) DL_PRINTF(1, 2);
void log_warning(const char *format, ...) DL_PRINTF(1, 2);
void log_info(const char *format, ...) DL_PRINTF(1, 2);
void log_debug(const char *format, ...) DL_PRINTF(1, 2);
