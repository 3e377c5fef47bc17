/* Files that are read, in whole or in part; pipes; checksums and hashes; bytes through file descriptors; folders. */
#ifndef GLS_UTIL_FILE_H
#define GLS_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

/* --- Whole files, and file descriptors. */

/* Reads a file or pipe of at most max_bytes as text. A UTF-8 byte order mark is left out; a NUL that *n does not count
 * follows. *data comes from malloc. GLS_ERR_INPUT names the file. */
gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n);

/* Like gls_file_read(), for text in which line ends do not stand in quotes: \r\n and \r become \n, and NUL bytes at the
 * end are left out. GLS_ERR_INPUT: NUL bytes elsewhere, as in UTF-16, or a file compressed by gzip. */
gls_status gls_file_read_text(const char *path, size_t max_bytes, char **text, size_t *n);

/* The part of a path behind its last slash. */
const char *gls_file_name(const char *path);
/* Whether two paths lead to the same file: the same inode, or, if neither file exists, the same name in the same
 * folder. */
bool gls_same_file(const char *a, const char *b);
/* GLS_ERR_OUTPUT if the output `path` is one of the other outputs, under any name; NULL entries are skipped. */
gls_status gls_file_differs(const char *path, const char *const *others, size_t n_others);

/* Writes all bytes at the position of the file. Returns false and sets errno on failure. */
bool gls_fd_write(int fd, const void *data, size_t bytes);
/* Like gls_fd_write(), for a pipe whose reader may stop reading: gives up when go_on() returns false. Returns the
 * number of bytes written; fewer than `bytes` mean failure or giving up. */
size_t gls_fd_write_while(int fd, const void *data, size_t bytes, bool (*go_on)(void));
/* Reads bytes at the position of the file. Returns the number of bytes, smaller than `bytes` only at the end of the
 * file; -1 on failure, with errno set. */
int64_t gls_fd_read(int fd, void *data, size_t bytes);

/* --- Files that are read once, from front to back. Opening a pipe never blocks. Reading from a pipe or terminal asks
 * the host every tenth of a second whether to go on waiting; see gls_set_wait(). */

/* A file that is open for reading. */
typedef struct gls_input {
    const char *path; /* borrowed; named in messages */
    int fd;           /* descriptor; -1: the file is not open */
    bool regular;     /* true: a regular file, which can be opened again and read at any position */
    uint64_t bytes;   /* size of a regular file, else 0 */
} gls_input;

/* Opens a file or pipe. GLS_ERR_INPUT names the file; input is then as after gls_input_close(). */
gls_status gls_input_open(const char *path, gls_input *input);
/* Reads the next bytes; *got is smaller than bytes only at the end of the file. GLS_ERR_CANCELLED: the host ended the
 * wait. */
gls_status gls_input_read(const gls_input *input, void *data, size_t bytes, size_t *got);
/* Closes the file. Accepts an input that is not open, with fd -1. */
void gls_input_close(gls_input *input);

/* Opens a regular file, for readers that jump within the file or open it again. *bytes: size of the file. GLS_ERR_INPUT
 * if the file cannot be opened or is not regular; *fd is then -1. */
gls_status gls_regular_open(const char *path, int *fd, uint64_t *bytes);
/* Reads `bytes` bytes at position `from`. GLS_ERR_INPUT if the file is shorter. */
gls_status gls_regular_read(const char *path, int fd, uint64_t from, void *data, size_t bytes);

/* --- CRC-32, as ZIP and gzip define it: computed by ISA-L if the build has it, else by zlib, which takes six times as
 * long. */

/* Continues a CRC-32 over more data, like crc32() of zlib. Start with crc = 0. */
uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes);
/* CRC-32 of two pieces of data joined: first and second are the CRC-32 of the pieces, bytes is the size of the second
 * piece. */
uint32_t gls_crc32_join(uint32_t first, uint32_t second, uint64_t bytes);

/* Path of the file in an input as the user typed it: FILE; or the FILE of FILE:LABELS and FILE=NAME if no file has the
 * whole text as its name. From malloc. NULL: no such file exists, or memory ran out. */
char *gls_file_named(const char *text);

/* --- Hashes that are stored in files: XXH3 of xxHash, whose values never change between versions. */

/* 64-bit XXH3 of the data. */
uint64_t gls_hash(const void *data, size_t bytes);
/* 64-bit XXH3 of the contents of a regular file. GLS_ERR_INPUT names the file. */
gls_status gls_hash_file(const char *path, uint64_t *hash);
/* Hash of an open file from its first byte on. The position of the file stays as it is. */
gls_status gls_hash_open_file(const char *path, int fd, uint64_t *hash);
/* Hash of samples spread evenly over a file of `bytes` bytes: quick, and enough to distinguish files that differ
 * everywhere. GLS_ERR_INPUT: the file is shorter. */
gls_status gls_hash_parts(const char *path, int fd, uint64_t bytes, uint64_t *hash);
/* Prints a hash as 16 hexadecimal digits. Returns text. */
char *gls_hash_text(uint64_t hash, char text[17]);

/* Makes a folder and the folders above it if they do not exist. If first is the empty string, it gets the path of the
 * topmost folder that was made, for gls_folders_remove(). first may be NULL. GLS_ERR_OUTPUT: path has more than 1535
 * bytes, or a folder cannot be made. */
gls_status gls_folders_make(const char *path, char first[1536]);
/* Removes a folder and the folders above it, up to `first` from gls_folders_make(), as long as they are empty. */
void gls_folders_remove(const char *path, const char *first);

#endif
