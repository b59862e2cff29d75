/* bench-read ROOT LIST READERS [PASSES]: open, fstat, read to the end and close each file of LIST
 * (paths below ROOT, one a line), as a training program does.  READERS processes share the list,
 * and go through it PASSES times; the time is from the first start to the last end.  Prints "files
 * bytes nanoseconds".
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (4 << 20)

struct share {                         /* what one reader did */
	uint64_t files, bytes, begin, end;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static char **read_list(const char *root, const char *list, size_t *ret_count)
{
	FILE *f = fopen(list, "r");
	char *line = NULL, **paths = NULL;
	size_t cap = 0, count = 0;
	ssize_t len;

	if (!f)
		give_up(list);
	while ((len = getline(&line, &cap, f)) > 0) {
		line[len - 1] = 0;
		paths = reallocarray(paths, count + 1, sizeof(*paths));
		if (!paths || asprintf(&paths[count++], "%s/%s", root, line) < 0)
			give_up(list);
	}
	free(line);
	fclose(f);
	*ret_count = count;
	return paths;
}

static uint64_t read_one(const char *path, char *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t got = 0;
	struct stat st;
	ssize_t r;

	if (fd < 0 || fstat(fd, &st) < 0)
		give_up(path);
	while ((r = read(fd, buffer, BUFFER)) > 0)
		got += (uint64_t)r;
	if (r < 0)
		give_up(path);
	if (got != (uint64_t)st.st_size) {
		fprintf(stderr, "%s: %lu bytes of %lu\n", path, (unsigned long)got,
			(unsigned long)st.st_size);
		exit(1);
	}
	close(fd);
	return got;
}

static void read_share(char **paths, size_t count, unsigned passes, unsigned first, unsigned step,
		       int start, struct share *ret)
{
	char *buffer = malloc(BUFFER), go;

	if (!buffer)
		give_up("malloc");
	memset(buffer, 1, BUFFER);
	if (read(start, &go, 1) != 1)
		give_up("start");
	ret->begin = now();
	for (size_t i = first; i < count * passes; i += step) {
		ret->bytes += read_one(paths[i % count], buffer);
		ret->files++;
	}
	ret->end = now();
	exit(0);
}

static void print_sum(const struct share *shares, unsigned readers)
{
	struct share all = { .begin = UINT64_MAX };

	for (unsigned i = 0; i < readers; i++) {
		all.files += shares[i].files;
		all.bytes += shares[i].bytes;
		all.begin = shares[i].begin < all.begin ? shares[i].begin : all.begin;
		all.end = shares[i].end > all.end ? shares[i].end : all.end;
	}
	printf("%lu %lu %lu\n", (unsigned long)all.files, (unsigned long)all.bytes,
	       (unsigned long)(all.end - all.begin));
}

int main(int argc, char **argv)
{
	unsigned readers = argc == 4 || argc == 5 ? (unsigned)atoi(argv[3]) : 0;
	unsigned passes = argc == 5 ? (unsigned)atoi(argv[4]) : 1;
	struct share *shares;
	int start[2], status;
	size_t count;
	char **paths;

	if (readers == 0 || readers > 1024) {
		fprintf(stderr, "usage: bench-read ROOT LIST READERS [PASSES]\n");
		return 2;
	}
	paths = read_list(argv[1], argv[2], &count);
	shares = mmap(NULL, readers * sizeof(*shares), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shares == MAP_FAILED || pipe(start) < 0)
		give_up("set up");
	for (unsigned i = 0; i < readers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			give_up("fork");
		if (pid == 0)
			read_share(paths, count, passes, i, readers, start[0], &shares[i]);
	}
	for (unsigned i = 0; i < readers; i++)
		if (write(start[1], "g", 1) != 1)
			give_up("start");
	for (unsigned i = 0; i < readers; i++)
		if (wait(&status) < 0 || status != 0)
			return 1;
	print_sum(shares, readers);
	return 0;
}
