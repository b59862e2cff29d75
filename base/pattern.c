#include "base/pattern.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

#define FLAGS (FNM_PATHNAME | FNM_LEADING_DIR)

static bool anywhere(const char *pattern, const char *path)
{
	for (;;) {
		if (fnmatch(pattern, path, FLAGS) == 0)
			return true;
		path = strchr(path, '/');
		if (!path)
			return false;
		path++;
	}
}

bool pattern_matches(const char *pattern, const char *path)
{
	if (strncmp(pattern, "**/", 3) == 0)
		return anywhere(pattern + 3, path);
	if (!strchr(pattern, '/') && strcmp(pattern, "**") != 0)
		return anywhere(pattern, path);
	return fnmatch(pattern + (*pattern == '/'), path, FLAGS) == 0;
}

bool pattern_any(const char *patterns, const char *path)
{
	char one[PATH_MAX];

	while (*patterns) {
		size_t len = strcspn(patterns, "\n");

		if (len < sizeof(one)) {
			memcpy(one, patterns, len);
			one[len] = '\0';
			if (pattern_matches(one, path))
				return true;
		}
		patterns += len + (patterns[len] == '\n');
	}
	return false;
}

const char *pattern_problem(const char *pattern)
{
	bool any_depth = pattern[0] == '*' && pattern[1] == '*' && pattern[2] == '/';
	const char *stars = strstr(any_depth ? pattern + 3 : pattern, "**");

	if (!*pattern)
		return "a pattern is not empty";
	if (strlen(pattern) >= PATH_MAX)
		return "a pattern is shorter than a path may be";
	if (strchr(pattern, '\n'))
		return "a pattern has no line end in it; ? stands for one";
	if (stars && (stars[2] || (stars > pattern && stars[-1] != '/')))
		return "** stands for whole folders only, at the beginning (**/x) or the "
			"end (x/**)";
	return NULL;
}
