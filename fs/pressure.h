/* Listens whether somebody lacks memory: the kernel's stall reports (PSI) of our cgroup and of the
 * machine.  Where there are none, what the kernel drops of what was pushed tells it as well, later.
 * Thread-safety: start and stop on one thread; fits on any.
 */
#pragma once
#include "fs/serve.h"

/* For engine_options.fits: less what the store on disk may have in memory. */
uint64_t pressure_fits(void *serve, uint64_t waiting, uint64_t pushed);

struct pressure;
/* *ret is NULL where there are no such reports. */
int pressure_start(struct serve *s, struct pressure **ret) DL_MUST_CHECK;
void pressure_stop(struct pressure *p);        /* before the engine; NULL is fine */
