/* How many threads the library takes. */
#ifndef GLS_UTIL_THREADS_H
#define GLS_UTIL_THREADS_H

#include <stdint.h>

/* What control groups (containers, systemd, Slurm) allow this process. */
typedef struct gls_cgroup {
    double cpus;           /* time of that many CPUs; 0: no limit */
    uint64_t memory_bytes; /* 0: no limit */
} gls_cgroup;

/* The tightest limits among the group of this process and its parents, version 2 or 1. groups is /proc/self/cgroup,
 * root where the hierarchies are mounted. */
gls_cgroup gls_cgroup_read(const char *groups, const char *root);
/* Of this process, read once. */
const gls_cgroup *gls_cgroup_limits(void);

/* On a thread that the library starts: OpenMP keeps the number by thread. */
void gls_threads_apply(void);

#endif
