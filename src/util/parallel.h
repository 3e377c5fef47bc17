/* Work on many items by several threads of the process, beside threads that read and write.
 *
 * OpenMP's threads meet at the end of each loop and wait there busily, which takes the processors from the threads
 * beside them. Here whoever is free takes the next items, the caller among them; a thread that comes late finds nothing
 * left. */
#ifndef GLS_UTIL_PARALLEL_H
#define GLS_UTIL_PARALLEL_H

#include <stddef.h>

/* Items from .. until - 1; no two calls at the same time have the same thread, 0 .. n_threads - 1. */
typedef void (*gls_parallel_task)(void *user, int thread, size_t from, size_t until);

/* Calls task until items 0 .. n - 1 are done, `grain` of them at a time, by n_threads threads at most. Calls from
 * several threads at the same time each get their threads; calls within calls are done by their callers alone. */
void gls_parallel(size_t n, size_t grain, int n_threads, gls_parallel_task task, void *user);

#endif
