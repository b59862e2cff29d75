/* What Keras reads, before the tracker. */
#include "tests/lib/stage.h"

/* Keras shuffles its list once; each epoch reads it through another buffer. */
Test(keras, follows_what_is_read_through_a_buffer)
{
	static const struct { uint32_t n, buffer; } worlds[] = {
		{ 2000, 64 }, { 10000, 256 }, { 50000, 256 }, { 50000, 1024 }, { 50000, 2048 },
	};

	for (size_t i = 0; i < DL_COUNT(worlds); i++) {
		dl_cleanup(sequence_unrefp) struct sequence *q = numpy_sequence(worlds[i].n, 5);
		struct found f;
		struct stage s;

		stage_open(&s, "auto", worlds[i].n, NULL);
		f = (struct found){ .list = &s.list, .seed = 5, .buffer = worlds[i].buffer };
		for (uint32_t e = 0; e < 3; e++) {
			struct buffer b = { .sequence = q, .size = worlds[i].buffer };
			uint32_t index, opens = 0, took = 0;

			while (buffer_step(&b, &s, &index)) {
				stage_see(&s, FIRST_ID + index, 50);
				if (++opens == 300) {
					cr_assert(e > 0 || tracker_found(s.tracker, &f), "n %u",
						  worlds[i].n);
					cr_assert_eq(tracker_main(s.tracker)->epoch, e, "n %u",
						     worlds[i].n);
					forget_verdicts(&s);
				}
				took += opens > 300 && tracker_took(s.tracker);
			}
			cr_assert_not_null(tracker_main(s.tracker)->next);
			cr_assert_geq(took, s.opens * 98 / 100, "n %u, epoch %u: %u of %u",
				      worlds[i].n, e, took, s.opens);
			cr_assert_geq(s.verdicts[TRACKER_FITS], s.opens * 99 / 100,
				      "n %u, epoch %u: %u of %u", worlds[i].n, e,
				      s.verdicts[TRACKER_FITS], s.opens);
		}
		stage_close(&s);
	}
}
