#include "util/blas.h"

#include <omp.h>
#include <sys/mman.h>

#include "util/memory.h"
#include "util/status.h"

/* What OpenBLAS maps for a thread at a time (its BUFFER_SIZE on x86-64, the largest of all), and a page or two. */
#define THREAD_BYTES (((size_t)128 << 20) + ((size_t)1 << 20))

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
