/* Going to the background, and what is said if that fails. */
#include <criterion/criterion.h>
#include <string.h>

#include "fs/cli/daemon.h"

static bool refused;

/* The program's own, before that of libc: as where a container's filter does not know it. */
int close_range(unsigned first, unsigned last, int flags)
{
	(void)flags;
	if (refused) {
		errno = EPERM;
		return -1;
	}
	for (unsigned fd = first; fd <= DL_MIN(last, 1023u); fd++)
		close((int)fd);
	return 0;
}

static int start(const char *say, size_t len, char reterr[512])
{
	int ready_fd, r = daemon_start(&ready_fd, reterr);

	if (r == 0)
		_exit(write(ready_fd, say, len) < 0);
	return r;
}

Test(daemon, all_is_well)
{
	char error[512];

	cr_assert_eq(start("\0but", 4, error), 1);
	cr_assert_str_eq(error, "");
	cr_assert_str_eq(error + 1, "but");
}

Test(daemon, what_the_child_says_is_heard)
{
	char error[512];

	cr_assert_eq(start("no luck", 7, error), 1);
	cr_assert_str_eq(error, "no luck");
	cr_assert_eq(start("", 0, error), 1);
	cr_assert(strstr(error, "without a word"));
}

Test(daemon, a_call_that_fails_is_named)
{
	char error[512];

	refused = true;
	cr_assert_eq(start("", 0, error), 1);
	cr_assert_str_eq(error, "cannot go to the background: close_range: "
			 "Operation not permitted");
}
