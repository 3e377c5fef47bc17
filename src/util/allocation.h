/* Memory for lists that grow, and for values that vectors of numbers are read from. */
#ifndef GLS_UTIL_MEMORY_H
#define GLS_UTIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for one more element behind n of a list: &list, any pointer to elements of this size. A full list becomes
 * twice as large, an empty one has room for `least`. False where memory is out: nothing has changed. */
bool gls_list_reserve(void *list, size_t n, size_t *capacity, size_t least, size_t size);

/* The limit on the address space of the process (ulimit -v) in MiB; 0: none. */
uint64_t gls_address_limit(void);

/* n zeros, 64-byte aligned, with room to the next multiple of 64 bytes; NULL where memory is out. To be freed. */
double *gls_aligned_zeros(size_t n);

#endif
