/* Who started whom. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "prefetch/find/process.h"

Test(process, knows_its_parent)
{
	cr_assert_eq(process_parent((uint32_t)getpid()), (uint32_t)getppid());
	cr_assert_eq(process_parent(1), 0, "nobody's");
	cr_assert_eq(process_parent(0), 0);
	cr_assert_eq(process_parent(UINT32_MAX), 0);
}

/* A name may hold what separates the fields. */
Test(process, is_not_misled_by_a_name)
{
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		prctl(PR_SET_NAME, ") S 4711 (");
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, WUNTRACED), child);
	cr_assert_eq(process_parent((uint32_t)child), (uint32_t)getpid());
	kill(child, SIGCONT);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_eq(process_parent((uint32_t)child), 0, "it is gone");
}
