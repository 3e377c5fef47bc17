/* Hashes that are kept in files: by xxHash, whose values are fixed for good. */
#ifndef GLS_UTIL_HASH_H
#define GLS_UTIL_HASH_H

#include <glslines/common.h>

/* XXH3 with 64 bits. */
uint64_t gls_hash(const void *data, size_t bytes);
/* The same over the contents of a regular file. GLS_ERR_INPUT names the file. */
gls_status gls_hash_file(const char *path, uint64_t *hash);
/* The same of one that is open, from its first byte on, whatever its position, which stays. */
gls_status gls_hash_open_file(const char *path, int fd, uint64_t *hash);
/* Over pieces of it that lie evenly between its first and last byte: tells files of different contents apart where
 * these differ all over, and takes no time. bytes: its size. GLS_ERR_INPUT: it is shorter. */
gls_status gls_hash_parts(const char *path, int fd, uint64_t bytes, uint64_t *hash);
/* 16 hexadecimal digits, as files have it. Returns text. */
char *gls_hash_text(uint64_t hash, char text[17]);

#endif
