/* bench-recode RATIO FOLDER < LIST: recode each file of the list; the result goes to FOLDER, under
 * the number of its line.  Prints a line a file: reason, bytes before and after, SSIM, quality, and
 * processor-seconds, the least of three: to recode, and of a JPEG for comparison to decode to
 * pixels, to encode these at quality 75, and the same with optimised Huffman tables; to find the
 * step that keeps the ratio, which is a part of recoding; and the reason in words.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <jpeglib.h>

#include "base/buf.h"
#include "prefetch/recode/recode.h"
#include "prefetch/recode/search.h"

#define PASSES 3

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

struct pixels {
	uint8_t *at;
	unsigned width, height, components;
	J_COLOR_SPACE space;
};

static void decode(const struct buf *b, struct pixels *to)
{
	struct jpeg_decompress_struct in;
	struct jpeg_error_mgr errors;

	in.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&in);
	jpeg_mem_src(&in, b->at, b->len);
	jpeg_read_header(&in, TRUE);
	jpeg_start_decompress(&in);
	to->width = in.output_width;
	to->height = in.output_height;
	to->components = (unsigned)in.output_components;
	to->space = in.out_color_space;
	to->at = malloc((size_t)to->width * to->height * to->components);
	while (in.output_scanline < in.output_height) {
		uint8_t *row = to->at + (size_t)in.output_scanline * to->width * to->components;

		jpeg_read_scanlines(&in, &row, 1);
	}
	jpeg_finish_decompress(&in);
	jpeg_destroy_decompress(&in);
}

static void encode(const struct pixels *p, bool optimised)
{
	struct jpeg_compress_struct out;
	struct jpeg_error_mgr errors;
	unsigned char *at = NULL;
	unsigned long len = 0;

	out.err = jpeg_std_error(&errors);
	jpeg_create_compress(&out);
	jpeg_mem_dest(&out, &at, &len);
	out.image_width = p->width;
	out.image_height = p->height;
	out.input_components = (int)p->components;
	out.in_color_space = p->space;
	jpeg_set_defaults(&out);
	jpeg_set_quality(&out, 75, TRUE);
	out.optimize_coding = optimised;
	jpeg_start_compress(&out, TRUE);
	while (out.next_scanline < p->height) {
		uint8_t *row = p->at + (size_t)out.next_scanline * p->width * p->components;

		jpeg_write_scanlines(&out, &row, 1);
	}
	jpeg_finish_compress(&out);
	jpeg_destroy_compress(&out);
	free(at);
}

static void keep_least(double *least, double from)
{
	double took = now() - from;

	if (*least == 0 || took < *least)
		*least = took;
}

static void compare(const struct buf *b, double least[3])
{
	struct pixels p;

	for (unsigned i = 0; i < PASSES; i++) {
		double from = now();

		decode(b, &p);
		keep_least(&least[0], from);
		for (unsigned optimised = 0; optimised < 2; optimised++) {
			from = now();
			encode(&p, optimised);
			keep_least(&least[1 + optimised], from);
		}
		free(p.at);
	}
}

static enum recode_reason recode_often(const struct recode_want *want, const struct buf *b,
				       struct recoded *r, double *least)
{
	struct recode_room *room = recode_room_new(RECODE_KEPT);
	enum recode_reason reason = RECODE_OFF;

	if (!room)
		abort();
	for (unsigned i = 0; i < PASSES; i++) {
		double from = now();

		free(r->data);
		*r = (struct recoded){ 0 };
		reason = recode_in(room, want, b->at, b->len, r);
		keep_least(least, from);
	}
	recode_room_free(room);
	return reason;
}

/* As recode_jpeg() does it, of what was read: SSIM of the original's side, and the tries.  One of
 * them is no part of the search, since its levels are those that are written.
 */
static void search(const struct buf *b, double ratio, double *ret)
{
	double all = 0, one = 0;
	struct recode_room *room = recode_room_new(RECODE_KEPT);

	if (!room)
		abort();
	for (unsigned i = 0; i < PASSES; i++) {
		struct jpeg_image image;
		struct luma luma;
		double from, ssim;
		float step;

		if (jpeg_read((struct bytes){ b->at, b->len }, room, &image) != RECODE_DONE)
			abort();
		from = now();
		if (luma_init(&image, &luma) < 0 || search_step(&luma, ratio, &step, &ssim) < 0)
			abort();
		keep_least(&all, from);
		from = now();
		luma_try(&luma, step);
		keep_least(&one, from);
		room_clear(room);
	}
	recode_room_free(room);
	*ret = all - one;
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
		double seconds = 0, others[3] = { 0 }, searched = 0;
		struct recoded r = { 0 };
		enum recode_reason reason;

		line[strcspn(line, "\n")] = 0;
		load(line, &b);
		reason = recode_often(&want, &b, &r, &seconds);
		if (reason == RECODE_DONE && b.at[0] == 0xff) {        /* a JPEG */
			compare(&b, others);
			search(&b, want.quality_ratio, &searched);
		}
		if (reason == RECODE_DONE)
			save(argv[2], number, &r);
		printf("%d %zu %zu %.5f %u %.6f %.6f %.6f %.6f %.6f %s\n", reason, b.len, r.size,
		       r.ssim, r.quality, seconds, others[0], others[1], others[2], searched,
		       recode_reason_name(reason));
		free(r.data);
	}
	return 0;
}
