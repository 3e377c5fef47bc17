#include "util/blas.h"

#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>

#include "util/memory.h"
#include "util/status.h"

/* What OpenBLAS maps for a thread at a time (its BUFFER_SIZE on x86-64, the largest of all), and a page or two. */
#define THREAD_BYTES (((size_t)128 << 20) + ((size_t)1 << 20))

extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int n);

static struct {
    pthread_mutex_t lock;
    int users, before;
} single = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_threads(int n)
{
    /* an OpenBLAS that is built with OpenMP sets that, too */
    int most = omp_get_max_threads();
    openblas_set_num_threads(n);
    if (omp_get_max_threads() != most) omp_set_num_threads(most);
}

void gls_blas_begin(void)
{
    pthread_mutex_lock(&single.lock);
    if (single.users++ == 0) {
        single.before = openblas_get_num_threads();
        if (single.before > 1) set_threads(1);
    }
    pthread_mutex_unlock(&single.lock);
}

void gls_blas_end(void)
{
    pthread_mutex_lock(&single.lock);
    if (--single.users == 0 && single.before > 1) set_threads(single.before);
    pthread_mutex_unlock(&single.lock);
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
