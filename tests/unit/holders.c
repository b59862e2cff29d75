#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "fs/cli/holders.h"

#define MANY 100

static char marker[40];
static pid_t servers[MANY];

/* Processes that hold the marker, and wait to be killed. */
static void begin(void)
{
	int fd;

	snprintf(marker, sizeof(marker), "dlfs-holders-%d", getpid());
	fd = memfd_create(marker, 0);
	cr_assert_geq(fd, 0);
	fflush(NULL);
	for (unsigned i = 0; i < MANY; i++) {
		servers[i] = fork();
		if (servers[i] == 0)
			for (;;)
				pause();
		cr_assert_gt(servers[i], 0);
	}
}

static void end(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
}

TestSuite(holders, .init = begin, .fini = end);

Test(holders, all_are_found_and_waited_for)
{
	dl_cleanup(holders_fini) struct holders h = { 0 };

	cr_assert_eq(holders_of_marker(marker, &h), 0);
	cr_assert_eq(h.count, (unsigned)MANY);
	cr_assert_not(holders_wait(&h, 0));
	cr_assert_neq(holders_first(&h), 0);
	holders_kill(&h, SIGKILL);
	cr_assert(holders_wait(&h, clock_now() + 30 * CLOCK_S));
	cr_assert_eq(holders_first(&h), 0);
}
