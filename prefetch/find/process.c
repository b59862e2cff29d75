#include "prefetch/find/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define STAT_MAX 512                   /* the fields that we want are the first */

/* "PID (NAME) STATE PARENT ...", where NAME may hold anything. */
uint32_t process_parent(uint32_t pid)
{
	char path[32], text[STAT_MAX];
	dl_cleanup(dl_closep) int fd = -1;
	const char *after;
	uint32_t parent;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : file_fill(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	after = strrchr(text, ')');
	return after && sscanf(after, ") %*c %u", &parent) == 1 ? parent : 0;
}
