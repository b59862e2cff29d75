#include "prefetch/manifest/natural.h"

#include <ctype.h>
#include <string.h>

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

static int compare_text(const char *a, size_t n, const char *b, size_t k)
{
	for (size_t i = 0; i < n && i < k; i++) {
		unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

		x = x < 0x80 ? (unsigned char)tolower(x) : x;
		y = y < 0x80 ? (unsigned char)tolower(y) : y;
		if (x != y)
			return x < y ? -1 : 1;
	}
	return n == k ? 0 : n < k ? -1 : 1;
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
