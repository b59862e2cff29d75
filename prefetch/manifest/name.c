#include "prefetch/manifest/name.h"

#define ESCAPED 0xdc00u

/* What `count` following bytes make of a first one; 0: they do not follow. */
static uint32_t with_following(uint32_t code, const unsigned char *at, unsigned count)
{
	for (unsigned i = 1; i <= count; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code;
}

uint32_t name_code(const char **at)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const void *)*at;
	unsigned more = *s < 0xc0 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
	uint32_t code;

	if (*s < 0x80) {
		*at += *s != 0;
		return *s;
	}
	code = more && *s < 0xf8 ? with_following(*s & (0x3fu >> more), s, more) : 0;
	if (code < least[more] || code == 0 || code > 0x10ffff || (code >> 11) == 0xd800 >> 11) {
		*at += 1;
		return ESCAPED + *s;
	}
	*at += 1 + more;
	return code;
}

int name_compare(const char *a, const char *b)
{
	uint32_t x, y;

	while (*a && *a == *b && (*a & 0x80) == 0) {
		a++;
		b++;
	}
	do {
		x = name_code(&a);
		y = name_code(&b);
	} while (x == y && x);
	return x < y ? -1 : x > y;
}
