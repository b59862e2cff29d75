/* The vocabulary every dlfs file shares.  Nothing here allocates, locks or logs.
 *
 * Return convention, everywhere in dlfs: 0 or a positive count is success, a negative
 * errno is failure.  Results leave through trailing ret_ parameters (or `ret`), which are
 * written only on success.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* One file of the dataset: its entry number in the manifest, see manifest.h. */
typedef uint32_t sample_id;
#define SAMPLE_NONE UINT32_MAX

struct bytes {                         /* borrowed: valid as long as its owner says */
	const void *at;
	size_t len;
};

#define KiB (UINT64_C(1) << 10)
#define MiB (UINT64_C(1) << 20)
#define GiB (UINT64_C(1) << 30)

#define DL_MUST_CHECK __attribute__((warn_unused_result))
#define DL_PRINTF(f, a) __attribute__((format(printf, f, a)))

#define DL_MIN(a, b) __extension__ ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); \
	a_ < b_ ? a_ : b_; })
#define DL_MAX(a, b) __extension__ ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); \
	a_ > b_ ? a_ : b_; })
#define DL_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define dl_container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* dl_cleanup(fn): run fn(&var) when var leaves scope.
 * DL_TAKE(p):     hand p to its next owner; p becomes NULL, so its cleanup does nothing.
 */
#define dl_cleanup(fn) __attribute__((cleanup(fn)))
#define DL_TAKE(p) __extension__ ({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })

/* What so many bytes of a file take in the page cache. */
static inline uint64_t dl_paged(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static inline void dl_freep(void *p) { free(*(void **)p); }
static inline void dl_closep(int *fd) { if (*fd >= 0) close(*fd); }
