/* bench-busy PROCESSES SECONDS: a training step that only computes, in so many processes at once.
 * Prints how many steps each of them did in that time, a line each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLOATS (64 << 10)              /* of a process: more than the first cache has */
#define STEP 8                         /* passes: about a tenth of a millisecond */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work(uint64_t until, volatile uint64_t *steps)
{
	static float at[FLOATS];
	float factor = 1.0f + (float)(getpid() % 7) * 1e-6f;

	while (now() < until) {
		for (unsigned pass = 0; pass < STEP; pass++)
			for (unsigned i = 0; i < FLOATS; i++)
				at[i] = at[i] * factor + 1.0f;
		++*steps;
	}
	_exit(at[FLOATS / 2] > 0.0f ? 0 : 1);
}

int main(int argc, char **argv)
{
	unsigned processes = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	uint64_t *steps, until;
	int status, failed = 0;

	if (processes == 0 || processes > 1024 || atof(argv[2]) <= 0.0) {
		fprintf(stderr, "usage: bench-busy PROCESSES SECONDS\n");
		return 2;
	}
	steps = mmap(NULL, processes * sizeof(*steps), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (steps == MAP_FAILED)
		return 1;
	until = now() + (uint64_t)(atof(argv[2]) * 1e9);
	for (unsigned i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			work(until, &steps[i]);
	}
	while (wait(&status) > 0)
		failed |= status;
	for (unsigned i = 0; i < processes; i++)
		printf("%lu\n", (unsigned long)steps[i]);
	return failed != 0;
}
