#include "base/path.h"

#include <string.h>

bool path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 0 && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || (len > 0 && !path[len]));
}
