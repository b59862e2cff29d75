#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "base/buf.h"

static _Atomic int log_level = LOG_LEVEL_INFO;
static _Atomic bool to_syslog;

void log_set_level(enum log_level level)
{
	log_level = (int)level;
}

void log_to_syslog(void)
{
	openlog("dlfs", LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

static int syslog_priority(enum log_level level)
{
	static const int priorities[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

	return priorities[level];
}

DL_PRINTF(2, 0)
static void log_line(enum log_level level, const char *format, va_list args)
{
	dl_cleanup(buf_free) struct buf line = BUF_EMPTY;
	char text[2048];

	if ((int)level > log_level)
		return;
	vsnprintf(text, sizeof(text), format, args);
	if (buf_escape(&line, (struct bytes){ text, strnlen(text, sizeof(text)) }) < 0)
		return;
	if (to_syslog)
		syslog(syslog_priority(level), "%s", (const char *)line.at);
	else
		fprintf(stderr, "dlfs: %s\n", (const char *)line.at);
}

#define LOG_FUNCTION(name, level) \
	void name(const char *format, ...) \
	{ \
		va_list args; \
		va_start(args, format); \
		log_line(level, format, args); \
		va_end(args); \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
