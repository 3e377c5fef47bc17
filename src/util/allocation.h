/* Memory: lists that grow, aligned memory for vector instructions, the limit on the address space,
 * freed memory. */
#ifndef GLS_UTIL_ALLOCATION_H
#define GLS_UTIL_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates memory for one more element in a list of n elements. list: address of the pointer to the elements, which
 * have `size` bytes each. A full list doubles its capacity; an empty one gets memory for `least` elements. Returns
 * false when memory runs out; the list is then unchanged. */
bool gls_list_reserve(void *list, size_t n, size_t *capacity, size_t least, size_t size);
/* Allocates memory for at least n elements; a list that is too short doubles its capacity, or gets n elements if that
 * is more. */
bool gls_list_grow(void *list, size_t n, size_t *capacity, size_t size);
/* Allocates memory for n elements, at least one. */
bool gls_list_resize(void *list, size_t n, size_t size);

/* Limit on the address space of the process in MiB (ulimit -v), at least 1; 0: no limit. */
uint64_t gls_address_limit(void);

/* Lets threads that begin later share what the allocator keeps, in place of a share for each: for a program that serves
 * for hours, and allocates little at a time. It holds for the whole process. */
void gls_memory_share(void);

/* Gives the system the memory that this process has freed, as far as its allocator keeps it. Later allocations take a
 * little longer. */
void gls_memory_give_back(void);

/* Allocates n zeros, aligned to 64 bytes and padded to a multiple of 64 bytes; the caller frees them. NULL: out of
 * memory. */
double *gls_aligned_zeros(size_t n);

#endif
