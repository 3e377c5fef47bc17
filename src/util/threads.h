/* Threads and their number, limits of control groups, locks after fork(), instruction sets, child processes, and the
 * threads of OpenBLAS. */
#ifndef GLS_UTIL_THREADS_H
#define GLS_UTIL_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/status.h"

/* --- Number of threads. */

/* Limits that control groups (containers, systemd, Slurm) set for this process. */
typedef struct gls_cgroup {
    double cpus;           /* CPU time, in CPUs; 0: no limit */
    uint64_t memory_bytes; /* 0: no limit */
} gls_cgroup;

/* Reads the tightest limits of the control group of this process and of the group's parents, in version 2 or 1. groups:
 * /proc/self/cgroup; root: folder where the hierarchies are mounted. */
gls_cgroup gls_cgroup_read(const char *groups, const char *root);
/* Limits of this process, read once. */
const gls_cgroup *gls_cgroup_limits(void);

/* Gives the calling thread the number of OpenMP threads that gls_set_threads() has set, if any. Call it on each thread
 * that the library starts, because OpenMP keeps a number for each thread. */
void gls_threads_apply(void);

/* --- Work on many items by several threads, beside threads that read and write. OpenMP's threads meet at the end of
 * each loop and wait there busily, which takes processors from the threads beside them. Here each free thread takes the
 * next items, the caller included, and a thread that comes late finds nothing left. */

/* Works on items from .. until - 1. thread: 0 .. n_threads - 1; no two calls at the same time get the same number. */
typedef void (*gls_parallel_task)(void *user, int thread, size_t from, size_t until);

/* Calls task for items 0 .. n - 1, `grain` items at a time, on at most n_threads threads. Calls from several threads at
 * the same time each get their own helpers; a call from inside a task, for one thread, or for at most `grain` items
 * calls task once, for all items, on the calling thread. */
void gls_parallel(size_t n, size_t grain, int n_threads, gls_parallel_task task, void *user);

/* --- Work on a thread beside the caller. */

/* Work beside the caller, who fills in the members up to at_once. All zero: there is no work. */
typedef struct gls_beside {
    /* names the thread and the work in a timeline */
    const char *name;
    gls_status (*work)(void *user);
    void *user;
    bool logs_first; /* messages of the caller are kept until gls_beside_end(), so that those of the work come first */
    bool at_once;    /* the work is done, without a thread, before gls_beside_begin() returns */
    bool running;    /* the work has a thread that was not joined yet */
    bool mutes_info; /* the caller drops messages of the level info, and so does the work */
    pthread_t thread;
    gls_status status; /* what work() returned; its message is copied, because each thread has its own last error */
    char message[GLS_MESSAGE_BYTES];
} gls_beside;

/* Begins the work. With at_once, or if no thread can be started, does all of it and returns its status, else GLS_OK.
 * Call gls_beside_end() in any case. */
gls_status gls_beside_begin(gls_beside *beside);
/* Waits for the work. Returns `status`, which the caller's own work had meanwhile, if it is a failure; else the status
 * of the work beside it, whose message becomes the caller's last error. */
gls_status gls_beside_end(gls_beside *beside, gls_status status);

/* --- Locks after fork(). The copy of a process has one thread: locks that other threads held stay locked, and their
 * work stays unfinished, unless both are reset. */

/* Registers a function that every child process made by fork() calls first. It may only reset variables of its own
 * file. */
#define GLS_IN_COPIES(function)                                         \
    __attribute__((constructor)) static void function##_in_copies(void) \
    {                                                                   \
        pthread_atfork(NULL, NULL, function);                           \
    }

/* --- Instruction sets: which of the sets that CPU kernels are written for does this processor have? All code asks
 * here. */

/* Each level includes the instructions of the levels before it. Processors other than x86-64 have only the first. */
typedef enum gls_cpu {
    GLS_CPU_PLAIN,  /* whatever the compiler may use by default */
    GLS_CPU_AVX2,   /* AVX2, FMA and F16C */
    GLS_CPU_AVX512, /* AVX-512 F, DQ, VL and BW */
    GLS_CPU_LEVELS
} gls_cpu;

/* GLS_TARGET_...: attribute of a function that is compiled for a level. GLS_CPU_VARIANTS(name): table of the functions
 * name_plain, name_avx2 ..., one for each level. */
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

/* Highest level of this processor. May be called from any thread. */
gls_cpu gls_cpu_level(void);

/* --- Child processes, for work that may crash or hang: the parent reads their output line by line for a limited
 * time. */

/* A child process that works for the calling process. */
typedef struct gls_child {
    /* process id */
    pid_t pid;
    int fd;              /* reading end of the pipe to which the child writes */
    bool (*go_on)(void); /* asked ten times a second; false: the child gets SIGTERM. NULL, as it begins: not asked */
} gls_child;

/* Forks. The child calls work(user, fd), which writes lines to fd, and ends. In the child no exit handler of the parent
 * runs, no core file is left, nothing goes to standard output, and with quiet nothing to standard error. Returns false
 * and sets errno if no process can be started. */
bool gls_child_fork(gls_child *child, bool quiet, void (*work)(void *user, int fd), void *user);
/* Starts this program again with these arguments and this environment. The parent reads the standard output and error
 * of the new process. Returns false and sets errno on failure. */
bool gls_child_spawn(gls_child *child, char *const *arguments, char *const *environment);

/* How the child ended: with an exit code, by a signal, or because its time was over. */
typedef struct gls_child_end {
    /* true: the time of the child was over, and the child was killed */
    bool late;
    int signal, code; /* signal that ended the child, else 0; exit code, 0 after a signal, -1 if not known */
} gls_child_end;

/* Receives a line of the child without its line end. Return true to restart the time limit. */
typedef bool (*gls_child_line)(void *user, const char *line);
/* Reads lines until the child ends or `seconds` have passed, kills the child in the second case, and waits for its end.
 * A child that got SIGTERM has 5 seconds to end by itself. Call this once for every child. */
gls_child_end gls_child_attend(gls_child *child, double seconds, gls_child_line line, void *user);

/* --- OpenBLAS: whether memory suffices for it, and its number of threads. Its functions are in util/lapack.h. */

/* Loads OpenBLAS. Call it before work that uses BLAS or LAPACK. GLS_ERR_MEMORY: the limit on the address space is too
 * small for OpenBLAS on all threads (it would wait for ever); the message names the limit and the need.
 * GLS_ERR_UNSUPPORTED: the library is missing. what: names the work in messages. */
gls_status gls_blas_check(const char *what);

/* Sets the number of threads of OpenBLAS, now or when it is loaded. Has no effect while the address space is limited.
 */
void gls_blas_set_threads(int n);
/* Configuration string of OpenBLAS; NULL if it was not loaded. */
const char *gls_blas_config(void);

/* Makes OpenBLAS compute on one thread until gls_blas_end(), so that its sums do not depend on the number of threads;
 * small problems take no longer. Pairs of gls_blas_begin() and gls_blas_end() nest, and may be open on several threads.
 * An OpenBLAS built with OpenMP has one thread only for calls from the calling thread; one with threads of its own has
 * one thread in the whole process, also for a calling program that uses it. */
void gls_blas_begin(void);
/* Ends what gls_blas_begin() began. The last call restores the number of threads from before the first begin. */
void gls_blas_end(void);
/* Number of OpenMP threads for a parallel region. Use it between gls_blas_begin() and gls_blas_end(), where OpenMP's
 * own number may be 1. */
int gls_blas_team(void);

#endif
