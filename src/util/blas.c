#include "util/blas.h"

#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>

#include "util/copies.h"
#include "util/memory.h"
#include "util/status.h"

/* What OpenBLAS maps for a thread at a time (its BUFFER_SIZE on x86-64, the largest of all), and a page or two. */
#define THREAD_BYTES (((size_t)128 << 20) + ((size_t)1 << 20))

extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int n);
extern int openblas_get_parallel(void);

#define BUILT_WITH_OPENMP 2 /* asks OpenMP on the calling thread, whatever openblas_set_num_threads() has set */

static struct {
    pthread_mutex_t lock;
    int users, before;
} single = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void renew(void)
{
    single.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    single.users = 0;
}
GLS_IN_COPIES(renew)

/* Of the calling thread where OpenBLAS is built with OpenMP: open pairs, and OpenMP's threads outside of them. */
static _Thread_local int depth, team;

void gls_blas_begin(void)
{
    if (openblas_get_parallel() == BUILT_WITH_OPENMP) {
        if (depth++ > 0) return;
        team = omp_get_max_threads();
        omp_set_num_threads(1);
        return;
    }
    pthread_mutex_lock(&single.lock);
    if (single.users++ == 0) {
        single.before = openblas_get_num_threads();
        if (single.before > 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&single.lock);
}

void gls_blas_end(void)
{
    if (openblas_get_parallel() == BUILT_WITH_OPENMP) {
        if (--depth == 0) omp_set_num_threads(team);
        return;
    }
    pthread_mutex_lock(&single.lock);
    /* what the calling program has set meanwhile stays */
    if (--single.users == 0 && single.before > 1 && openblas_get_num_threads() == 1)
        openblas_set_num_threads(single.before);
    pthread_mutex_unlock(&single.lock);
}

int gls_blas_team(void)
{
    return depth > 0 ? team : omp_get_max_threads();
}

gls_status gls_blas_check(const char *what)
{
    uint64_t limit = gls_address_limit();
    if (limit == 0) return GLS_OK;
    size_t bytes = (size_t)omp_get_max_threads() * THREAD_BYTES;
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) {
        munmap(probe, bytes);
        return GLS_OK;
    }
    return gls_fail(
        GLS_ERR_MEMORY,
        "%s: the limit on the address space (ulimit -v, %llu MiB) leaves less than the %zu MiB that OpenBLAS "
        "needs",
        what, (unsigned long long)limit, bytes >> 20);
}
