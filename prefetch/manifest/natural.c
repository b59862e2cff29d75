#include "prefetch/manifest/natural.h"

#include <ctype.h>
#include <string.h>

#include "prefetch/manifest/name.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t run_of(const char *s, bool digits)
{
	size_t n = 0;

	while (s[n] && digit(s[n]) == digits)
		n++;
	return n;
}

static int compare_numbers(const char *a, size_t n, const char *b, size_t k)
{
	while (n > 1 && *a == '0') {
		a++;
		n--;
	}
	while (k > 1 && *b == '0') {
		b++;
		k--;
	}
	if (n != k)
		return n < k ? -1 : 1;
	return memcmp(a, b, n);
}

/* Neither a digit nor the end is part of a longer code. */
static int compare_text(const char *a, size_t n, const char *b, size_t k)
{
	const char *end = a + n, *other_end = b + k;

	while (a < end && b < other_end) {
		uint32_t x = name_code(&a), y = name_code(&b);

		x = x < 0x80 ? (uint32_t)tolower((int)x) : x;
		y = y < 0x80 ? (uint32_t)tolower((int)y) : y;
		if (x != y)
			return x < y ? -1 : 1;
	}
	return a == end && b == other_end ? 0 : a == end ? -1 : 1;
}

int natural_compare(const char *a, const char *b)
{
	bool digits = false;

	while (*a || *b) {
		size_t n = run_of(a, digits), k = run_of(b, digits);
		int order;

		if (digits && (n == 0 || k == 0))       /* one of the keys ends here */
			return n == k ? 0 : n < k ? -1 : 1;
		order = digits ? compare_numbers(a, n, b, k) : compare_text(a, n, b, k);
		if (order)
			return order;
		a += n;
		b += k;
		digits = !digits;
	}
	return 0;
}
