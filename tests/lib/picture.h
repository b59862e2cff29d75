/* JPEGs for tests, made on the spot. */
#pragma once
#include <stdio.h>
#include <jpeglib.h>
#include "base/buf.h"

struct picture {
	unsigned width, height, quality;
	unsigned h, v;                 /* of luma, chroma being 1x1; 0: no chroma */
	bool progressive, arithmetic;
};

/* Something between a photograph and noise: edges, slopes and texture. */
static inline uint8_t picture_sample(unsigned x, unsigned y, unsigned c)
{
	uint32_t n = (x * 2654435761u) ^ (y * 2246822519u) ^ (c * 3266489917u);

	n ^= n >> 15;
	n *= 2654435761u;
	n ^= n >> 13;
	return (uint8_t)(((x * (3 + c) + y * 2) / 4 % 160) + ((x / 24 + y / 17) % 2) * 60 + n % 24);
}

static inline struct buf picture_make(struct picture p)
{
	struct jpeg_compress_struct out;
	struct jpeg_error_mgr errors;
	unsigned char *at = NULL;
	unsigned long len = 0;
	uint8_t *row = malloc(p.width * 3);

	out.err = jpeg_std_error(&errors);
	jpeg_create_compress(&out);
	jpeg_mem_dest(&out, &at, &len);
	out.image_width = p.width;
	out.image_height = p.height;
	out.input_components = p.h ? 3 : 1;
	out.in_color_space = p.h ? JCS_RGB : JCS_GRAYSCALE;
	jpeg_set_defaults(&out);
	jpeg_set_quality(&out, (int)p.quality, FALSE);
	out.comp_info[0].h_samp_factor = p.h ? (int)p.h : 1;
	out.comp_info[0].v_samp_factor = p.h ? (int)p.v : 1;
	out.arith_code = p.arithmetic;
	if (p.progressive)
		jpeg_simple_progression(&out);
	jpeg_start_compress(&out, TRUE);
	for (unsigned y = 0; y < p.height; y++) {
		for (unsigned i = 0; i < p.width * (unsigned)out.input_components; i++)
			row[i] = p.h ? picture_sample(i / 3, y, i % 3) : picture_sample(i, y, 0);
		jpeg_write_scanlines(&out, &row, 1);
	}
	jpeg_finish_compress(&out);
	jpeg_destroy_compress(&out);
	free(row);
	return (struct buf){ .at = at, .len = len, .cap = len };
}
