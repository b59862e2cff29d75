/* bench-recode RATIO FOLDER < LIST: recode each file of the list; the result goes to FOLDER, under
 * the number of its line.  Prints a line a file: reason, bytes before and after, SSIM, quality,
 * processor-seconds.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "prefetch/recode/recode.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void save(const char *folder, unsigned number, const struct recoded *r)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%06u", folder, number);
	f = fopen(path, "wb");
	if (!f || fwrite(r->data, 1, r->size, f) != r->size || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void load(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "rb");
	char part[65536];
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		if (buf_append(b, part, n) < 0)
			abort();
	fclose(f);
}

int main(int argc, char **argv)
{
	struct recode_want want = { 0 };
	char line[4096];

	if (argc != 3) {
		fprintf(stderr, "usage: %s RATIO FOLDER < LIST\n", argv[0]);
		return 2;
	}
	want.quality_ratio = strtod(argv[1], NULL);
	want.png_fast = true;
	for (unsigned number = 0; fgets(line, sizeof(line), stdin); number++) {
		dl_cleanup(buf_free) struct buf b = BUF_EMPTY;
		struct recoded r = { 0 };
		enum recode_reason reason;
		double from;

		line[strcspn(line, "\n")] = 0;
		load(line, &b);
		from = now();
		reason = recode(&want, b.at, b.len, &r);
		from = now() - from;
		if (reason == RECODE_DONE)
			save(argv[2], number, &r);
		printf("%d %zu %zu %.5f %u %.6f %s\n", reason, b.len, r.size, r.ssim, r.quality,
		       from, recode_reason_name(reason));
		free(r.data);
	}
	return 0;
}
