#include "base/edits.h"

#include <string.h>

#define WORD_MAX 64

/* Levenshtein's, by rows; for letters that changed places the row before the last one too. */
size_t edits(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX], la = strlen(a), lb = strlen(b);

	if (la >= WORD_MAX || lb >= WORD_MAX)
		return SIZE_MAX;
	for (size_t i = 0; i <= la; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t more, other;

			if (i == 0) {
				row[j] = j;
				continue;
			}
			more = DL_MIN(last[j], row[j - 1]) + 1;
			other = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = DL_MIN(other, more);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = DL_MIN(row[j], before[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}
