/* Reading what the user said. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/edits.h"
#include "prefetch/order/order.h"

static int refuse(char reterr[160], const char *format, ...) DL_PRINTF(2, 3);
static int refuse(char reterr[160], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reterr, 160, format, args);
	va_end(args);
	return -EINVAL;
}

void order_spec_fini(struct order_spec *s)
{
	free(s->ranks);
	free(s->root);
	free(s->file);
	free(s->text);
	*s = (struct order_spec){ 0 };
}

static char *copied(const char *text)
{
	return text ? strdup(text) : NULL;
}

int order_spec_copy(const struct order_spec *s, struct order_spec *ret)
{
	dl_cleanup(order_spec_fini) struct order_spec copy = *s;

	copy.root = copied(s->root);
	copy.file = copied(s->file);
	copy.text = copied(s->text);
	copy.ranks = NULL;
	if (s->ranks) {
		copy.ranks = malloc(s->rank_count * sizeof(*s->ranks));
		if (copy.ranks)
			memcpy(copy.ranks, s->ranks, s->rank_count * sizeof(*s->ranks));
	}
	if ((s->root && !copy.root) || (s->file && !copy.file) || (s->text && !copy.text) ||
	    (s->ranks && !copy.ranks))
		return -ENOMEM;
	*ret = copy;
	copy = (struct order_spec){ 0 };
	return 0;
}

/* Not base 0: a leading zero makes no octal number here. */
static int read_number(const char *text, uint64_t *ret)
{
	bool minus = *text == '-';
	const char *digits = text + minus;
	int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
	char *end;

	if (*digits < '0' || *digits > '9')
		return -EINVAL;
	errno = 0;
	*ret = minus ? (uint64_t)strtoll(text, &end, base) : strtoull(text, &end, base);
	return errno || *end ? -EINVAL : 0;
}

static int add_ranks(struct order_spec *s, uint64_t from, uint64_t to)
{
	uint32_t *more;

	if (to < from || to >= ORDER_RANKS_MAX || s->rank_count + to - from + 1 > ORDER_RANKS_MAX)
		return -EINVAL;
	if (s->rank_count > 0 && s->ranks[s->rank_count - 1] >= from)
		return -EINVAL;
	more = realloc(s->ranks, (s->rank_count + to - from + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->ranks = more;
	for (uint64_t r = from; r <= to; r++)
		s->ranks[s->rank_count++] = (uint32_t)r;
	return 0;
}

/* "0", "0+1+3", "0-3", "0-1+4" */
static int read_ranks(struct order_spec *s, char *text)
{
	char *save = NULL;

	for (char *part = strtok_r(text, "+", &save); part; part = strtok_r(NULL, "+", &save)) {
		char *dash = strchr(part, '-');
		uint64_t from, to;
		int r;

		if (dash)
			*dash = 0;
		if (read_number(part, &from) < 0 || read_number(dash ? dash + 1 : part, &to) < 0)
			return -EINVAL;
		r = add_ranks(s, from, to);
		if (r < 0)
			return r;
	}
	return s->rank_count > 0 ? 0 : -EINVAL;
}

enum { WORD_SEED = 1, WORD_EPOCH = 2, WORD_EPOCHS = 4, WORD_WORLD = 8, WORD_RANKS = 16,
	WORD_DROP = 32, WORD_ROOT = 64,
	WORD_PIECE = 128, WORD_RESERVOIR = 256 };

#define WORD_NUMBERS (WORD_SEED | WORD_EPOCH | WORD_EPOCHS | WORD_WORLD)
#define WORD_SAMPLES (WORD_PIECE | WORD_RESERVOIR)

static const struct word {
	const char *name;
	unsigned bit;
	bool value;
} words[] = {
	{ "seed", WORD_SEED, true }, { "epoch", WORD_EPOCH, true },
	{ "epochs", WORD_EPOCHS, true }, { "world", WORD_WORLD, true },
	{ "ranks", WORD_RANKS, true }, { "drop_last", WORD_DROP, false },
	{ "root", WORD_ROOT, true }, { "piece", WORD_PIECE, true },
	{ "reservoir", WORD_RESERVOIR, true },
};

static int set_word(struct order_spec *s, const struct word *w, char *value, char reterr[160])
{
	uint64_t number = 0;
	int r = 0;

	if (w->bit & (WORD_NUMBERS | WORD_SAMPLES))
		r = read_number(value, &number);
	if (r < 0)
		return refuse(reterr, "%s=%s is not a number", w->name, value);
	if (w->bit & (WORD_EPOCH | WORD_EPOCHS) &&
	    (number < (w->bit == WORD_EPOCHS) || number > ORDER_EPOCHS_MAX))
		return refuse(reterr, "%s=%.40s: %d to %d", w->name, value, w->bit == WORD_EPOCHS,
			      ORDER_EPOCHS_MAX);
	if (w->bit & WORD_SAMPLES && (number < 1 || number > UINT32_MAX))
		return refuse(reterr, "%s=%.40s: a number of samples", w->name, value);
	switch (w->bit) {
	case WORD_SEED:
		s->seed = number;
		break;
	case WORD_EPOCH:
		s->epoch = number;
		break;
	case WORD_EPOCHS:
		s->epochs = number;
		break;
	case WORD_WORLD:
		if (number < 1 || number > ORDER_RANKS_MAX)
			return refuse(reterr, "world=%s: 1 to %d processes", value,
				      ORDER_RANKS_MAX);
		s->world = (uint32_t)number;
		break;
	case WORD_RANKS:
		r = read_ranks(s, value);
		if (r == -EINVAL)
			return refuse(reterr, "ranks: ascending numbers such as 0+1 or 0-3");
		return r;
	case WORD_PIECE:
		s->piece = (uint32_t)number;
		break;
	case WORD_RESERVOIR:
		s->reservoir = (uint32_t)number;
		break;
	case WORD_DROP:
		s->drop_last = true;
		break;
	default:
		s->root = strdup(value);
		return s->root ? 0 : -ENOMEM;
	}
	return 0;
}

/* The nearest word, or all of them; given is "" where a comma or the colon has none after it. */
static int refuse_word(const char *given, unsigned allowed, char reterr[160])
{
	char all[80] = "";
	size_t len = 0;

	for (size_t i = 0; i < DL_COUNT(words); i++) {
		if (!(words[i].bit & allowed))
			continue;
		if (edits(words[i].name, given) <= 1)
			return refuse(reterr, "\"%.40s\" is not a word of this order; did you mean "
				      "%s?", given, words[i].name);
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
					words[i].name);
	}
	if (!*given)
		return refuse(reterr, "nothing stands after a comma or the colon; this order takes "
			      "%s", all);
	if (*given >= '0' && *given <= '9' && (allowed & WORD_SEED))
		return refuse(reterr, "\"%.40s\" is not a word of this order; did you mean "
			      "seed=%.40s?", given, given);
	return refuse(reterr, "\"%.40s\" is not a word of this order; it takes %s", given, all);
}

/* text: what stands after the colon, or NULL. */
static int read_words(struct order_spec *s, char *text, unsigned allowed, unsigned needed,
		      char reterr[160])
{
	unsigned seen = 0;
	char *part;

	while ((part = strsep(&text, ",")) != NULL) {
		char *value = strchr(part, '=');
		const struct word *w = NULL;
		int r;

		if (value)
			*value++ = 0;
		for (size_t i = 0; i < DL_COUNT(words); i++)
			if (strcmp(words[i].name, part) == 0 && (words[i].bit & allowed))
				w = &words[i];
		if (!w)
			return refuse_word(part, allowed, reterr);
		if (w->value != (value != NULL) || (value && !*value))
			return refuse(reterr, w->value ? "%s needs a value" : "%s has no value",
				      w->name);
		if (seen & w->bit)
			return refuse(reterr, "%s is given twice", w->name);
		seen |= w->bit;
		r = set_word(s, w, value, reterr);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < DL_COUNT(words); i++)
		if ((words[i].bit & needed) && !(seen & words[i].bit))
			return refuse(reterr, "%s= is missing, as in %s:seed=7%s",
				      words[i].name, needed & WORD_WORLD ? "torch-distributed" :
				      "torch", needed & WORD_WORLD ? ",world=2" : "");
	return 0;
}

#define WORDS_ANY (WORD_EPOCH | WORD_EPOCHS | WORD_ROOT)

static const struct kind {
	const char *name;
	enum order_kind kind;
	unsigned allowed, needed;
} kinds[] = {
	{ "none", ORDER_NONE, 0, 0 },
	{ "auto", ORDER_AUTO, 0, 0 },
	{ "sequential", ORDER_SEQUENTIAL, WORDS_ANY, 0 },
	{ "torch", ORDER_TORCH, WORDS_ANY | WORD_SEED, WORD_SEED },
	{ "torch-distributed", ORDER_TORCH_DISTRIBUTED,
	  WORDS_ANY | WORD_SEED | WORD_WORLD | WORD_RANKS | WORD_DROP, WORD_SEED | WORD_WORLD },
	{ "list", ORDER_LIST, 0, 0 },
	{ "drawn", ORDER_DRAWN, WORD_SEED | WORD_EPOCH | WORD_SAMPLES, 0 },
};

static int read_kind(struct order_spec *s, const struct kind *k, const char *rest,
		     char reterr[160])
{
	dl_cleanup(dl_freep) char *text = rest ? strdup(rest) : NULL;

	s->kind = k->kind;
	if (rest && !text)
		return -ENOMEM;
	if (k->kind == ORDER_LIST) {
		if (!rest || !*rest)
			return refuse(reterr, "list needs a file: list:/path/to/order.txt");
		s->file = DL_TAKE(text);
		return 0;
	}
	if (rest && !k->allowed)
		return refuse(reterr, "%s has no words after it", k->name);
	return read_words(s, text, k->allowed, k->needed, reterr);
}

/* A comma where the colon belongs. */
static int refuse_comma(const struct kind *k, const char *rest, char reterr[160])
{
	if (k->kind == ORDER_LIST)
		return refuse(reterr, "list needs a file after a colon: list:%.60s",
			      *rest ? rest : "/path/to/order.txt");
	if (!k->allowed)
		return refuse(reterr, "%s has no words after it", k->name);
	if (!*rest)
		return refuse_word("", k->allowed, reterr);
	return refuse(reterr, "words of an order come after a colon: %s:%.60s", k->name, rest);
}

static int check(const struct order_spec *s, char reterr[160])
{
	if (s->rank_count > 0 && s->ranks[s->rank_count - 1] >= s->world)
		return refuse(reterr, "rank %u is not below world=%u",
			      s->ranks[s->rank_count - 1], s->world);
	if (s->epochs > 0 && s->epoch >= s->epochs)
		return refuse(reterr, "epoch=%llu: of epochs=%llu the last is number %llu",
			      (unsigned long long)s->epoch, (unsigned long long)s->epochs,
			      (unsigned long long)s->epochs - 1);
	return 0;
}

int order_parse(const char *text, struct order_spec *ret, char reterr[160])
{
	dl_cleanup(order_spec_fini) struct order_spec s = { .text = strdup(text) };
	size_t len = strcspn(text, ":,");
	const char *rest = text[len] ? text + len + 1 : NULL;
	int r;

	*ret = (struct order_spec){ 0 };
	if (!s.text)
		return -ENOMEM;
	for (size_t i = 0; i < DL_COUNT(kinds); i++) {
		if (strlen(kinds[i].name) != len || memcmp(kinds[i].name, text, len) != 0)
			continue;
		if (text[len] == ',')
			return refuse_comma(&kinds[i], rest, reterr);
		r = read_kind(&s, &kinds[i], rest, reterr);
		if (r == 0)
			r = check(&s, reterr);
		if (r < 0)
			return r;
		*ret = s;
		s = (struct order_spec){ 0 };
		return 0;
	}
	return refuse(reterr, "\"%.40s\" is no order: auto, none, sequential, torch:seed=S, "
		      "torch-distributed:seed=S,world=W, drawn or list:FILE", text);
}
