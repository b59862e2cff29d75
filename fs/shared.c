#include "fs/shared.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

int shared_new(struct shared **ret)
{
	void *at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

void shared_free(struct shared *s)
{
	if (s)
		munmap(s, sizeof(*s));
}

/* Written to the half that nobody reads, then shown: a server that dies in between leaves the
 * old one. */
void shared_set_spec(struct shared *s, const char *spec)
{
	uint32_t turn = s->spec_turn + 1;

	snprintf(s->specs[turn % 2], sizeof(s->specs[0]), "%s", spec);
	atomic_store(&s->spec_turn, turn);
}

const char *shared_spec(const struct shared *s)
{
	return s->specs[s->spec_turn % 2];
}
