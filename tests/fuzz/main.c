/* Runs a fuzz target without a fuzzer: every file of the corpus as it is, then `FUZZ_RUNS`
 * (4000) random changes of them, from a fixed seed (FUZZ_SEED), so a failure comes again.
 * With `-Dfuzzer=true` libFuzzer takes its place.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX 65536
#define CORPUS_MAX 512

static struct buf corpus[CORPUS_MAX];
static size_t corpus_count;

static struct random state;

static uint32_t draw(uint32_t n)
{
	return random_below(&state, n);
}

static void load(const char *folder, const char *name)
{
	char path[4096];
	uint8_t bytes[INPUT_MAX];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (!f)
		return;
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	if (buf_append(&corpus[corpus_count], bytes, n) == 0)
		corpus_count++;
}

static size_t mutate(const struct buf *from, uint8_t *to)
{
	size_t len = from->len;

	memcpy(to, from->at, len);
	for (uint32_t i = 1 + draw(8); i > 0 && len > 0; i--) {
		size_t at = draw((uint32_t)len);

		switch (draw(4)) {
		case 0:
			to[at] ^= (uint8_t)(1u << draw(8));
			break;
		case 1:
			to[at] = (uint8_t)draw(256);
			break;
		case 2:
			len = at;
			break;
		default:
			memmove(to + at, to + at + (len - at) / 2, len - at - (len - at) / 2);
			len -= (len - at) / 2;
			break;
		}
	}
	return len;
}

int main(int argc, char **argv)
{
	const char *runs_text = getenv("FUZZ_RUNS"), *seed_text = getenv("FUZZ_SEED");
	uint32_t runs = runs_text ? (uint32_t)strtoul(runs_text, NULL, 0) : 4000;
	static uint8_t input[INPUT_MAX];
	struct dirent *d;
	DIR *dir;

	state.state = seed_text ? strtoull(seed_text, NULL, 0) : 1;
	dir = argc == 2 ? opendir(argv[1]) : NULL;
	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
		return 2;
	}
	while (corpus_count < CORPUS_MAX && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			load(argv[1], d->d_name);
	closedir(dir);
	if (corpus_count == 0) {
		fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
		return 1;
	}
	for (size_t i = 0; i < corpus_count; i++)
		LLVMFuzzerTestOneInput(corpus[i].at, corpus[i].len);
	for (uint32_t i = 0; i < runs; i++) {
		size_t len = mutate(&corpus[draw((uint32_t)corpus_count)], input);

		LLVMFuzzerTestOneInput(input, len);
	}
	printf("%zu files, %u changes of them\n", corpus_count, runs);
	for (size_t i = 0; i < corpus_count; i++)
		buf_free(&corpus[i]);
	return 0;
}
