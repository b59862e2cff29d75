/* Any name survives escape and unescape; any text either is refused or gives a name whose
 * escaped form is stable. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(struct bytes name)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf back = BUF_EMPTY;

	assert(buf_escape(&text, name) == 0);
	for (size_t i = 0; i < text.len; i++)
		assert(text.at[i] >= 0x20 && text.at[i] != 0x7f);
	assert(buf_unescape(&back, (struct bytes){ text.at, text.len }) == 0);
	assert(back.len == name.len);
	assert(name.len == 0 || memcmp(back.at, name.at, name.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dl_cleanup(buf_free) struct buf name = BUF_EMPTY;
	int r = buf_unescape(&name, (struct bytes){ data, size });

	assert(r == 0 || r == -EINVAL);
	if (r == 0)
		round_trip((struct bytes){ name.at, name.len });
	round_trip((struct bytes){ data, size });
	return 0;
}
