#include "prefetch/recode/huffman.h"

#include <string.h>

#define NONE 256                       /* a symbol that takes the code of all ones */
#define NODES (2 * 257)
#define DEEP 64                        /* counts of 32 bits make no deeper tree */

struct leaf {
	uint32_t often;
	uint32_t symbol;
};

struct tree {
	uint64_t weight[NODES];
	uint16_t parent[NODES];
	unsigned leaves, nodes;
};

/* Rarest first; the order of equals is fixed, too. */
static int by_rarity(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->often != y->often)
		return x->often < y->often ? -1 : 1;
	return x->symbol > y->symbol ? -1 : 1;
}

static unsigned collect(const uint32_t often[256], struct leaf leaves[257])
{
	unsigned n = 0;

	leaves[n++] = (struct leaf){ 0, NONE };
	for (uint32_t i = 0; i < 256; i++)
		if (often[i])
			leaves[n++] = (struct leaf){ often[i], i };
	qsort(leaves, n, sizeof(*leaves), by_rarity);
	return n;
}

/* Leaves are sorted, and inner nodes come in order of weight by themselves. */
static void grow(struct tree *t)
{
	unsigned leaf = 0, inner = t->leaves;

	t->nodes = t->leaves;
	while (leaf < t->leaves || inner + 1 < t->nodes) {
		uint64_t sum = 0;

		if (leaf + 1 == t->leaves && inner == t->nodes)
			break;
		for (unsigned i = 0; i < 2; i++) {
			bool from_leaves = leaf < t->leaves
				&& (inner == t->nodes || t->weight[leaf] <= t->weight[inner]);
			unsigned least = from_leaves ? leaf++ : inner++;

			sum += t->weight[least];
			t->parent[least] = (uint16_t)t->nodes;
		}
		t->weight[t->nodes++] = sum;
	}
}

static void count_depths(const struct tree *t, unsigned count[DEEP])
{
	uint8_t depth[NODES] = { 0 };

	for (unsigned i = t->nodes - 1; i-- > 0;) {
		depth[i] = depth[t->parent[i]] + 1;
		if (i < t->leaves)
			count[depth[i]]++;
	}
}

/* Two codes that are too long make room under a shorter one. */
static void shorten(unsigned count[DEEP])
{
	for (unsigned i = DEEP - 1; i > HUFFMAN_BITS; i--)
		while (count[i] > 0) {
			unsigned j = i - 2;

			while (count[j] == 0)
				j--;
			count[i] -= 2;
			count[i - 1]++;
			count[j + 1] += 2;
			count[j]--;
		}
}

void huffman_code(const uint32_t often[256], struct huffman_code *ret)
{
	struct leaf leaves[257];
	unsigned n = collect(often, leaves), count[DEEP] = { 0 }, longest = HUFFMAN_BITS;
	struct tree t = { .leaves = n };

	for (unsigned i = 0; i < n; i++)
		t.weight[i] = leaves[i].often;
	*ret = (struct huffman_code){ 0 };
	if (n < 2)
		return;
	grow(&t);
	count_depths(&t, count);
	shorten(count);
	while (count[longest] == 0)
		longest--;
	count[longest]--;              /* that of NONE, the rarest */
	for (unsigned i = 1; i <= HUFFMAN_BITS; i++)
		ret->count[i] = (uint8_t)count[i];
	for (unsigned i = 1; i < n; i++)
		ret->symbols[i - 1] = (uint8_t)leaves[n - i].symbol;
}
