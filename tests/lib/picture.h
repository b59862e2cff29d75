/* JPEGs for tests, made on the spot, and what they look like decoded. */
#pragma once
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include "base/buf.h"
#include "tests/lib/ssim.h"

struct picture {
	unsigned width, height, quality;
	unsigned h, v;                 /* of luma, those of colour being 1x1; 0: no colour */
	unsigned colour_h, colour_v;   /* not 1x1, but so */
	bool progressive, arithmetic, apart;   /* apart: a scan for each component */
	J_COLOR_SPACE space;           /* in the file; 0: as usual */
	unsigned restart;              /* in MCUs */
	uint8_t (*sample)(unsigned x, unsigned y, unsigned c);         /* NULL: picture_sample() */
};

/* Something between a photograph and noise: edges, slopes and texture, with little colour. */
static inline uint8_t picture_sample(unsigned x, unsigned y, unsigned c)
{
	uint32_t n = (x * 2654435761u) ^ (y * 2246822519u);

	n ^= n >> 15;
	n *= 2654435761u;
	n ^= n >> 13;
	return (uint8_t)((x * 3 + y * 2) / 4 % 120 + (x / 24 + y / 17) % 2 * 60 + n % 24
			 + c * ((x + y) / 9 % 16));
}

static inline void picture_set_up(struct jpeg_compress_struct *out, const struct picture *p)
{
	static const jpeg_scan_info apart[3] = {
		{ 1, { 0 }, 0, 63, 0, 0 }, { 1, { 1 }, 0, 63, 0, 0 }, { 1, { 2 }, 0, 63, 0, 0 },
	};

	out->image_width = p->width;
	out->image_height = p->height;
	out->input_components = p->space == JCS_CMYK ? 4 : p->h ? 3 : 1;
	out->in_color_space = p->space == JCS_CMYK ? JCS_CMYK : p->h ? JCS_RGB : JCS_GRAYSCALE;
	jpeg_set_defaults(out);
	if (p->space)
		jpeg_set_colorspace(out, p->space);
	jpeg_set_quality(out, (int)p->quality, FALSE);
	out->comp_info[0].h_samp_factor = p->h ? (int)p->h : 1;
	out->comp_info[0].v_samp_factor = p->h ? (int)p->v : 1;
	for (unsigned i = 1; p->colour_h && i < 3; i++) {
		out->comp_info[i].h_samp_factor = (int)p->colour_h;
		out->comp_info[i].v_samp_factor = (int)p->colour_v;
	}
	out->arith_code = p->arithmetic;
	out->restart_interval = p->restart;
	if (p->progressive)
		jpeg_simple_progression(out);
	if (p->apart) {
		out->scan_info = apart;
		out->num_scans = 3;
	}
}

static inline struct buf picture_make(struct picture p)
{
	struct jpeg_compress_struct out;
	struct jpeg_error_mgr errors;
	unsigned char *at = NULL;
	unsigned long len = 0;
	uint8_t *row = malloc(p.width * 4);

	out.err = jpeg_std_error(&errors);
	jpeg_create_compress(&out);
	jpeg_mem_dest(&out, &at, &len);
	picture_set_up(&out, &p);
	jpeg_start_compress(&out, TRUE);
	for (unsigned y = 0; y < p.height; y++) {
		unsigned n = (unsigned)out.input_components;

		for (unsigned i = 0; i < p.width * n; i++)
			row[i] = (p.sample ? p.sample : picture_sample)(i / n, y, i % n);
		jpeg_write_scanlines(&out, &row, 1);
	}
	jpeg_finish_compress(&out);
	jpeg_destroy_compress(&out);
	free(row);
	return (struct buf){ .at = at, .len = len, .cap = len };
}

struct decoded {
	unsigned width, height, components;
	int h[3], v[3];
	J_COLOR_SPACE space;
	bool progressive;
	uint8_t *pixels;               /* YCbCr, or grey */
};

/* Any warning fails the test. */
static inline struct decoded picture_decode(const void *at, size_t len)
{
	struct jpeg_decompress_struct in;
	struct jpeg_error_mgr errors;
	struct decoded d;

	in.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&in);
	jpeg_mem_src(&in, at, len);
	jpeg_read_header(&in, TRUE);
	in.out_color_space = in.jpeg_color_space;
	d.space = in.jpeg_color_space;
	jpeg_start_decompress(&in);
	d.width = in.output_width;
	d.height = in.output_height;
	d.components = (unsigned)in.output_components;
	d.progressive = in.progressive_mode;
	for (unsigned i = 0; i < d.components && i < 3; i++) {
		d.h[i] = in.comp_info[i].h_samp_factor;
		d.v[i] = in.comp_info[i].v_samp_factor;
	}
	d.pixels = malloc((size_t)d.width * d.height * d.components);
	while (in.output_scanline < d.height) {
		uint8_t *row = d.pixels + (size_t)in.output_scanline * d.width * d.components;

		jpeg_read_scanlines(&in, &row, 1);
	}
	jpeg_finish_decompress(&in);
	cr_assert_eq(errors.num_warnings, 0);
	jpeg_destroy_decompress(&in);
	return d;
}

static inline double picture_ssim(const struct decoded *a, const struct decoded *b)
{
	return ssim_of(a->pixels, b->pixels, a->width, a->height, a->components);
}

/* The mean squared error of component c in a part of the picture. */
static inline double picture_error(const struct decoded *a, const struct decoded *b, unsigned c,
				   unsigned left, unsigned top)
{
	double sum = 0;

	for (unsigned y = top; y < a->height; y++)
		for (unsigned x = left; x < a->width; x++) {
			size_t at = ((size_t)y * a->width + x) * a->components + c;
			double d = (double)a->pixels[at] - b->pixels[at];

			sum += d * d;
		}
	return sum / (a->height - top) / (a->width - left);
}
