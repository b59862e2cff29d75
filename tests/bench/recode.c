/* bench-recode RATIO FOLDER < LIST: recode each file of the list; the result goes to FOLDER, under
 * the number of its line.  Prints a line a file: reason, bytes before and after, SSIM, quality, and
 * processor-seconds, the least of three: to recode, and of a JPEG for comparison to decode to
 * pixels, to encode these at quality 75, and the same with optimised Huffman tables; to read its
 * coefficients; then what recoding consists of: to read them and scale them, to measure the
 * original, to find the step that keeps the ratio, to code with it once more (which is no part of
 * recoding: so much of finding it is not search), to code the colours, and to write; and the reason
 * in words.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <jpeglib.h>

#include "base/buf.h"
#include "prefetch/recode/colour.h"
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

struct jpeg {
	struct jpeg_decompress_struct in;
	struct jpeg_error_mgr errors;
};

static void open_jpeg(struct jpeg *j, const struct buf *b)
{
	j->in.err = jpeg_std_error(&j->errors);
	jpeg_create_decompress(&j->in);
	jpeg_mem_src(&j->in, b->at, b->len);
	jpeg_read_header(&j->in, TRUE);
}

static void decode(const struct buf *b, struct pixels *to)
{
	struct jpeg j;
	struct jpeg_decompress_struct *in = &j.in;

	open_jpeg(&j, b);
	jpeg_start_decompress(in);
	to->width = in->output_width;
	to->height = in->output_height;
	to->components = (unsigned)in->output_components;
	to->space = in->out_color_space;
	to->at = malloc((size_t)to->width * to->height * to->components);
	while (in->output_scanline < in->output_height) {
		uint8_t *row = to->at + (size_t)in->output_scanline * to->width * to->components;

		jpeg_read_scanlines(in, &row, 1);
	}
	jpeg_finish_decompress(in);
	jpeg_destroy_decompress(in);
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

enum part { ENTROPY, READ, MEASURE, FIND, ONCE_MORE, COLOUR, WRITE, PARTS };

static void coefficients(const struct buf *b)
{
	struct jpeg j;

	open_jpeg(&j, b);
	jpeg_read_coefficients(&j.in);
	jpeg_destroy_decompress(&j.in);
}

static void expect(bool done)
{
	if (!done)
		abort();
}

static void ends(double least[PARTS], enum part part, double *from)
{
	keep_least(&least[part], *from);
	*from = now();
}

/* As recode_jpeg() does it. */
static void take_apart(struct bytes source, double ratio, struct recode_room *room,
		       double least[PARTS])
{
	struct jpeg_image image, coded;
	struct luma luma;
	struct bytes result;
	double from = now(), ssim;
	float step;

	expect(jpeg_read(source, room, &image) == RECODE_DONE);
	ends(least, READ, &from);
	expect(luma_init(&image, &luma) == 0);
	ends(least, MEASURE, &from);
	expect(search_step(&luma, ratio, &step, &ssim) == 0);
	ends(least, FIND, &from);
	luma_try(&luma, step);
	ends(least, ONCE_MORE, &from);
	coded = image;
	coded.plane[0] = luma.coded;
	expect(image.components == 1 ||
	       colour_code(&image, step, luma_error(&luma), &coded) == 0);
	ends(least, COLOUR, &from);
	expect(jpeg_write(&coded, source, source.len, &result) == RECODE_DONE);
	ends(least, WRITE, &from);
}

static void time_parts(const struct buf *b, double ratio, double least[PARTS])
{
	struct recode_room *room = recode_room_new(RECODE_KEPT);

	expect(room);
	for (unsigned i = 0; i < PASSES; i++) {
		double from = now();

		coefficients(b);
		ends(least, ENTROPY, &from);
		take_apart((struct bytes){ b->at, b->len }, ratio, room, least);
		room_clear(room);
	}
	recode_room_free(room);
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
		double seconds = 0, others[3] = { 0 }, parts[PARTS] = { 0 };
		struct recoded r = { 0 };
		enum recode_reason reason;

		line[strcspn(line, "\n")] = 0;
		load(line, &b);
		reason = recode_often(&want, &b, &r, &seconds);
		if (reason == RECODE_DONE && b.at[0] == 0xff) {        /* a JPEG */
			compare(&b, others);
			time_parts(&b, want.quality_ratio, parts);
		}
		if (reason == RECODE_DONE)
			save(argv[2], number, &r);
		printf("%d %zu %zu %.5f %u %.6f %.6f %.6f %.6f ", reason, b.len, r.size, r.ssim,
		       r.quality, seconds, others[0], others[1], others[2]);
		for (unsigned i = 0; i < PARTS; i++)
			printf("%.6f ", parts[i]);
		printf("%s\n", recode_reason_name(reason));
		free(r.data);
	}
	return 0;
}
