/* A PNG coded so that decoding it takes the least time: the same pixels and chunks.
 *
 * What decoding costs is the Huffman codes, and the Average and Paeth filters.  So these two are
 * not used, and as much as the size allows is not compressed at all: what compresses worst, since
 * that saves most time for its bytes.
 */
#include <string.h>

#include "prefetch/recode/kinds.h"
#include "prefetch/recode/png_image.h"
#include "prefetch/recode/png_rows.h"
#include "prefetch/recode/png_zip.h"

#define SIZE_MOST 1.2                  /* of the source */
#define GAIN 0.8                       /* of the source's cost, or it is not worth it */
#define PLAIN_MOST 1.3                 /* entropy to that with filters, to try without them */
#define GROUP_BYTES 8192               /* rows that are compressed, or stored, together */
#define GROUPS_MOST 256
#define RUN_BYTES 90                   /* what the head of a compressed block takes */
#define STORED_COST 0.02               /* of a stored byte, as in row_cost() */
#define SCALE_FIRST 0.95               /* of the compressor to entropy: a photograph's */
#define FULL 0.985                     /* of the room: nothing worth a further attempt is left */
#define ATTEMPTS 4

struct group {
	struct zip_piece stored, coded;
	double entropy;                /* of the coded rows */
	double undo;                   /* what their filters cost */
	bool store;
};

struct coding {                        /* one way to code the image */
	const struct png_image *image;
	uint8_t *coded;                /* rows with filters; owned */
	struct group groups[GROUPS_MOST + 1];
	size_t count;
	double entropy, plain;         /* of all groups, and without filters */
	bool filtered;
	size_t most;                   /* bytes that the stream may have */
};

/* --- Filters ---------------------------------------------------------------------------- */

/* The filter that leaves least, and what it leaves. */
static int best_filter(struct coding *c, uint32_t y, uint8_t *to, uint8_t *scratch,
		       double *ret_entropy)
{
	const struct png_image *i = c->image;
	const uint8_t *row = png_row(i, y), *above = y > 0 ? png_row(i, y - 1) : NULL;
	int last = c->filtered ? ROW_UP : ROW_NONE, best = ROW_NONE;

	memcpy(to, row, i->row);
	*ret_entropy = row_entropy(row, i->row);
	c->plain += *ret_entropy;
	for (int filter = ROW_SUB; filter <= last; filter++) {
		double entropy;

		row_apply(filter, row, above, i->row, i->step, scratch);
		entropy = row_entropy(scratch, i->row);
		if (entropy < *ret_entropy) {
			*ret_entropy = entropy;
			best = filter;
			memcpy(to, scratch, i->row);
		}
	}
	return best;
}

static void add_row(struct coding *c, struct group *g, uint32_t y, uint8_t *scratch)
{
	size_t len = 1 + c->image->row;
	uint8_t *to = c->coded + y * len;
	double entropy;

	*to = (uint8_t)best_filter(c, y, to + 1, scratch, &entropy);
	g->entropy += entropy;
	g->undo += row_cost(*to) * (double)c->image->row;
	if (g->coded.len == 0) {
		g->coded.at = to;
		g->stored = (struct zip_piece){ .at = png_row(c->image, y) - 1, .stored = true };
	}
	g->coded.len += len;
	g->stored.len += len;
}

static int filter_rows(struct coding *c)
{
	dl_cleanup(dl_freep) uint8_t *scratch = malloc(c->image->row);
	size_t size = png_size(c->image), len = 1 + c->image->row;
	size_t in_group = GROUP_BYTES / len + 1;

	while (c->image->height > in_group * GROUPS_MOST)
		in_group++;
	c->coded = malloc(size);
	if (!scratch || !c->coded)
		return -ENOMEM;
	for (uint32_t y = 0; y < c->image->height; y++)
		add_row(c, &c->groups[y / in_group], y, scratch);
	c->count = (c->image->height - 1) / in_group + 1;
	for (size_t i = 0; i < c->count; i++)
		c->entropy += c->groups[i].entropy;
	return 0;
}

/* --- What is stored --------------------------------------------------------------------- */

/* Bytes more, if this group were stored instead of compressed.  scale: what the compressor makes
 * of a byte of entropy. */
static double price(const struct coding *c, size_t group, double scale)
{
	const struct group *g = &c->groups[group];
	bool begins = group == 0 || !c->groups[group - 1].store;

	return (double)g->stored.len - g->entropy * scale + (begins ? RUN_BYTES : 0);
}

/* The group that can be had for `room` and is the best bargain; NULL: none. */
static struct group *bargain(struct coding *c, double scale, double *room)
{
	struct group *best = NULL;
	double least = 0, paid = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct group *g = &c->groups[i];
		double bytes = price(c, i, scale);
		double rate = bytes / (g->entropy * scale + g->undo + 1);

		if (g->store || bytes > *room || (best && rate >= least))
			continue;
		best = g;
		least = rate;
		paid = bytes;
	}
	*room -= paid;
	return best;
}

static void choose_stored(struct coding *c, double scale, double room)
{
	struct group *g;

	for (size_t i = 0; i < c->count; i++)
		c->groups[i].store = false;
	while ((g = bargain(c, scale, &room)))
		g->store = true;
}

static int compress(const struct coding *c, struct buf *ret)
{
	struct zip_piece pieces[GROUPS_MOST + 1];

	for (size_t i = 0; i < c->count; i++)
		pieces[i] = c->groups[i].store ? c->groups[i].stored : c->groups[i].coded;
	ret->len = 0;
	return zip_deflate(pieces, c->count, c->filtered, c->most + c->most / 8 + 64, ret);
}

/* How dear the stream is to decode. */
static double cost_of(const struct coding *c, size_t len)
{
	double cost = (double)len;

	for (size_t i = 0; i < c->count; i++)
		cost += c->groups[i].store
			? ((double)STORED_COST - 1) * (double)c->groups[i].stored.len
			: c->groups[i].undo;
	return cost;
}

/* What the compressor made of a byte of entropy, where it was used; 0: nowhere. */
static double measured_scale(const struct coding *c, size_t len)
{
	double coded = (double)len, entropy = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->groups[i].store)
			coded -= (double)c->groups[i].stored.len;
		else
			entropy += c->groups[i].entropy;
	}
	return entropy > 0 ? DL_MAX(coded, 1.0) / entropy : 0;
}

static bool stores_any(const struct coding *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->groups[i].store)
			return true;
	return false;
}

/* Compress with what seems to fit stored, and learn from what comes of it: the best of a few tries.
 * -ENOSPC: not even all compressed fits. */
static int code(struct coding *c, struct buf *ret, double *ret_cost)
{
	dl_cleanup(buf_free) struct buf trial = BUF_EMPTY;
	double scale = SCALE_FIRST, most = (double)c->most;
	int r = 0;

	for (int i = 0; i < ATTEMPTS; i++) {
		choose_stored(c, scale, most - c->entropy * scale);
		r = compress(c, &trial);
		if (r == -ENOMEM || (r < 0 && !stores_any(c)))
			return r;
		scale = r < 0 ? scale * 1.2 : measured_scale(c, trial.len) * 1.005;
		if (r < 0 || trial.len > c->most)
			continue;
		if (ret->len == 0 || cost_of(c, trial.len) < *ret_cost) {
			*ret_cost = cost_of(c, trial.len);
			buf_free(ret);
			*ret = buf_take(&trial);
		}
		if (i > 0 || scale == 0 || (double)ret->len > FULL * most)
			break;
	}
	return ret->len > 0 ? 0 : -ENOSPC;
}

/* --- The file --------------------------------------------------------------------------- */

/* Better than *cost?  Then *best is replaced.  -ENOSPC: it does not fit.  *ret_plain: what no
 * filters leave, to what is left. */
static int try_coding(const struct png_image *image, bool filtered, size_t most, double *cost,
		      double *ret_plain, struct buf *best)
{
	dl_cleanup(buf_free) struct buf stream = BUF_EMPTY;
	dl_cleanup(dl_freep) struct coding *c = calloc(1, sizeof(*c));
	double its_cost = 0;
	int r;

	if (!c)
		return -ENOMEM;
	c->image = image;
	c->filtered = filtered;
	c->most = most;
	r = filter_rows(c);
	if (r == 0)
		r = code(c, &stream, &its_cost);
	*ret_plain = c->plain / DL_MAX(c->entropy, 1.0);
	free(c->coded);
	if (r < 0 || its_cost >= *cost)
		return r;
	*cost = its_cost;
	buf_free(best);
	*best = buf_take(&stream);
	return 0;
}

/* Drawings and label images have more from repetition than from differences; photographs not. */
static enum recode_reason encode(const struct png_parts *p, const struct png_image *image,
				 size_t most, struct buf *ret)
{
	double cost = image->cost * GAIN, plain = 1;
	int r = 0;

	if (p->depth == 8 && p->colour != 3)
		r = try_coding(image, true, most, &cost, &plain, ret);
	if (r != -ENOMEM && plain < PLAIN_MOST)
		r = try_coding(image, false, most, &cost, &plain, ret);
	if (r == -ENOMEM)
		return RECODE_NO_MEMORY;
	return ret->len > 0 ? RECODE_DONE : RECODE_NO_GAIN;
}

static enum recode_reason finish(const struct png_parts *p, const struct buf *stream,
				 struct recoded *ret)
{
	dl_cleanup(buf_free) struct buf file = BUF_EMPTY;

	if (png_compose(p, (struct bytes){ stream->at, stream->len }, &file) < 0)
		return RECODE_NO_MEMORY;
	*ret = (struct recoded){
		.size = file.len, .ssim = 1, .width = p->width, .height = p->height,
	};
	ret->data = buf_take(&file).at;
	return RECODE_DONE;
}

enum recode_reason png_wants(const struct recode_want *want, struct bytes source,
			     struct recode_need *ret)
{
	struct png_parts parts;
	enum recode_reason why = want->png_fast ? png_parse(source, &parts) : RECODE_OFF;

	if (why != RECODE_DONE)
		return why;
	if ((uint64_t)parts.width * parts.height > want->limits.pixels)
		return RECODE_LIMITS;
	*ret = png_need(&parts);
	return ret->coding > want->limits.memory ? RECODE_LIMITS : RECODE_DONE;
}

enum recode_reason recode_png(const struct recode_want *want, struct bytes source,
			      struct recoded *ret)
{
	dl_cleanup(buf_free) struct buf stream = BUF_EMPTY;
	size_t most = (size_t)((double)source.len * SIZE_MOST);
	struct png_image image;
	struct png_parts parts;
	enum recode_reason why;

	if (!want->png_fast)
		return RECODE_OFF;
	why = png_parse(source, &parts);
	if (why == RECODE_DONE)
		why = png_decode(&parts, &want->limits, &image);
	if (why != RECODE_DONE)
		return why;
	if (most <= png_frame(&parts) || image.stored > source.len / 50)
		why = RECODE_NO_GAIN;  /* the latter: it is made to be decoded fast already */
	else
		why = encode(&parts, &image, most - png_frame(&parts), &stream);
	free(image.rows);
	return why == RECODE_DONE ? finish(&parts, &stream, ret) : why;
}
