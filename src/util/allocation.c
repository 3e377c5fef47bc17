/* Grows lists, allocates aligned memory for numbers, reads the limit on the address space, and
 * gives back freed memory. */
#include "util/allocation.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

bool gls_list_resize(void *list, size_t n, size_t size)
{
    /* list is the address of a pointer of unknown type, which C lets only memcpy() read and write */
    void *elements;
    memcpy(&elements, list, sizeof elements);
    elements = realloc(elements, n * size);
    if (elements) memcpy(list, &elements, sizeof elements);
    return elements != NULL;
}

bool gls_list_grow(void *list, size_t n, size_t *capacity, size_t size)
{
    if (n <= *capacity) return true;
    const size_t wanted = n > 2 * *capacity ? n : 2 * *capacity;
    if (!gls_list_resize(list, wanted, size)) return false;
    *capacity = wanted;
    return true;
}

bool gls_list_reserve(void *list, size_t n, size_t *capacity, size_t least, size_t size)
{
    return n < *capacity || gls_list_grow(list, *capacity ? 2 * *capacity : least, capacity, size);
}

uint64_t gls_address_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    return limit.rlim_cur < 1 << 20 ? 1 : (uint64_t)limit.rlim_cur >> 20;
}

void gls_memory_share(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
#endif
}

void gls_memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

double *gls_aligned_zeros(size_t n)
{
    size_t bytes = (n * sizeof(double) + 63) / 64 * 64;
    double *values = aligned_alloc(64, bytes);
    if (values) memset(values, 0, bytes);
    return values;
}
