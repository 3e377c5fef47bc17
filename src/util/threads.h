/* Threads, CPU cores, child processes, and the threads of OpenBLAS. */
#ifndef GLS_UTIL_THREADS_H
#define GLS_UTIL_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <glslines/common.h>

/* --- How many threads the library takes. */

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

/* --- Work on many items by several threads of the process, beside threads that read and write. * OpenMP's threads meet
 * at the end of each loop and wait there busily, which takes the processors from the threads beside them. Here whoever
 * is free takes the next items, the caller among them; a thread that comes late finds nothing left. */

/* Items from .. until - 1; no two calls at the same time have the same thread, 0 .. n_threads - 1. */
typedef void (*gls_parallel_task)(void *user, int thread, size_t from, size_t until);

/* Calls task until items 0 .. n - 1 are done, `grain` of them at a time, by n_threads threads at most. Calls from
 * several threads at the same time each get their threads; calls within calls are done by their callers alone. */
void gls_parallel(size_t n, size_t grain, int n_threads, gls_parallel_task task, void *user);

/* --- A copy of the process that fork() makes has one thread: locks that others held there stay held, and work that
 * they had stays undone, unless they are renewed. */

/* The function is called in every copy before anything else. It may only set what the copy has of its own. */
#define GLS_IN_COPIES(function)                                         \
    __attribute__((constructor)) static void function##_in_copies(void) \
    {                                                                   \
        pthread_atfork(NULL, NULL, function);                           \
    }

/* --- Which of the instruction sets that kernels on the CPU are written for this processor has: the one place that
 * asks. */

/* Each level has the instructions of those before it. On other processors than x86-64 there is only the first. */
typedef enum gls_cpu {
    GLS_CPU_PLAIN,  /* what the compiler may use without asking */
    GLS_CPU_AVX2,   /* AVX2, FMA and F16C */
    GLS_CPU_AVX512, /* AVX-512 F, DQ, VL and BW */
    GLS_CPU_LEVELS
} gls_cpu;

/* For functions compiled for a level, at file scope; and a table of them with a place for each level. */
#if defined(__x86_64__) && defined(__GNUC__)
#define GLS_CPU_HAS_LEVELS 1
#define GLS_CPU_VARIANTS(name)                   \
    {                                            \
        name##_plain, name##_avx2, name##_avx512 \
    }
#define GLS_TARGET_AVX2 __attribute__((target("avx2,fma,f16c")))
#define GLS_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#else
#define GLS_CPU_HAS_LEVELS 0
#define GLS_CPU_VARIANTS(name) \
    {                          \
        name##_plain           \
    }
#endif

/* The highest level of this processor; it is found out once. Any thread. */
gls_cpu gls_cpu_level(void);

/* --- Work in a process of its own, where it may crash or hang: what it writes is read line by line, for a limited
 * time. */

typedef struct gls_child {
    pid_t pid;
    int fd; /* its lines come out here */
} gls_child;

/* A copy of this process that calls work, which writes lines to fd, and ends with it. Nothing of this process is closed
 * or finished there; it leaves no core file, writes nothing to standard output, and with quiet nothing to standard
 * error either. False, with errno: there is none. */
bool gls_child_fork(gls_child *child, bool quiet, void (*work)(void *user, int fd), void *user);
/* This program anew, with these arguments and this environment; its lines are its standard output and error. */
bool gls_child_spawn(gls_child *child, char *const *arguments, char *const *environment);

/* How it ended: by itself with a code, by a signal, or because its time was over. */
typedef struct gls_child_end {
    bool late;
    int signal, code; /* 0 where it was not that */
} gls_child_end;

/* Gets each line without its end; true: the time begins anew. */
typedef bool (*gls_child_line)(void *user, const char *line);
/* Reads until the child ends or has used up its seconds, and leaves no process behind. Every child that was started
 * needs this. */
gls_child_end gls_child_attend(gls_child *child, double seconds, gls_child_line line, void *user);

/* --- OpenBLAS: whether there is memory for it, and its threads. Its functions are in util/lapack.h. */

/* Before the first call of BLAS or LAPACK by some piece of work, which loads it: GLS_ERR_MEMORY with the limit and what
 * is wanted, if the limit on the address space leaves too little for OpenBLAS on all threads: it would wait for ever.
 * GLS_ERR_UNSUPPORTED: there is no such library. */
gls_status gls_blas_check(const char *what);

/* Threads of products of matrices, from now on or from when OpenBLAS is loaded. */
void gls_blas_set_threads(int n);
/* What OpenBLAS says of itself; NULL where nothing has used it. */
const char *gls_blas_config(void);

/* Between the two OpenBLAS computes on one thread: with several of them its sums depend on their number. What is fitted
 * is small, so that the fit takes no longer. Pairs nest, and may be open on several threads; what was set before comes
 * back after the last. The setting is the process's: meanwhile the calling program's own OpenBLAS has one thread, too,
 * if it is the same library. */
void gls_blas_begin(void);
void gls_blas_end(void);
/* The threads of OpenMP for a parallel region: those inside of a pair name them, as OpenMP's own number may be 1 there.
 */
int gls_blas_team(void);

#endif
