/* Files that are read: whole files, pipes, regular files, checksums and hashes. */
#ifndef GLS_UTIL_FILE_H
#define GLS_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

/* --- Files: reading whole ones, and whole pieces. */

/* The text of a file (or pipe) of at most max_bytes, without a UTF-8 byte order mark, followed by a NUL that is not
 * counted; *data is from malloc. GLS_ERR_INPUT names the file. */
gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n);

/* The same without NUL bytes at the end, and with \n at the end of each line in place of \r\n and \r: for text without
 * quotes around line ends. GLS_ERR_INPUT: NUL bytes inside, as text in UTF-16 has. */
gls_status gls_file_read_text(const char *path, size_t max_bytes, char **text, size_t *n);

/* What stands behind the last slash of a path. */
const char *gls_file_name(const char *path);
/* Whether two paths lead to one file: the same inode, or, where there is none yet, the same name in the same folder. */
bool gls_same_file(const char *a, const char *b);

/* Writes everything at the file's position or returns false with errno set. */
bool gls_fd_write(int fd, const void *data, size_t bytes);
/* The same for pipes, whose readers may not read: waits as long as go_on says so. Returns how many bytes were written,
 * less than all where it failed or did not go on. */
size_t gls_fd_write_while(int fd, const void *data, size_t bytes, bool (*go_on)(void));
/* Reads up to bytes (less only at the end of the file); -1 with errno set. */
int64_t gls_fd_read(int fd, void *data, size_t bytes);

/* --- Files that are read. A pipe or a terminal may keep its reader waiting for ever, in open() for a writer and in
 * read() for its bytes; here neither does: opening never waits, and reading asks the host now and then whether to go on
 * waiting, see gls_set_wait(). */

typedef struct gls_input {
    const char *path; /* for messages; the caller's */
    int fd;           /* -1: not open */
    bool regular;     /* so that it can be opened again, and read anywhere */
    uint64_t bytes;   /* of a regular file, else 0 */
} gls_input;

/* GLS_ERR_INPUT names the file; input is then as after gls_input_close(). */
gls_status gls_input_open(const char *path, gls_input *input);
/* The next bytes; *got is smaller only at the end of the file. GLS_ERR_CANCELLED if the host ends the wait. */
gls_status gls_input_read(const gls_input *input, void *data, size_t bytes, size_t *got);
/* Accepts one that is not open, fd of which is -1. */
void gls_input_close(gls_input *input);

/* Opens a regular file, for readers that do not go from front to back or come again; GLS_ERR_INPUT for pipes and
 * devices. *fd is -1 on failure. */
gls_status gls_regular_open(const char *path, int *fd, uint64_t *bytes);
/* Bytes from .. from + bytes - 1; GLS_ERR_INPUT if the file is shorter. */
gls_status gls_regular_read(const char *path, int fd, uint64_t from, void *data, size_t bytes);

/* --- CRC-32 of ZIP and gzip: by ISA-L where it was built in, else by zlib, which takes six times as long. */

/* As zlib's crc32(): start with crc = 0. */
uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes);
/* That of data of which `first` is the sum of the beginning and `second` that of the rest, of so many bytes. */
uint32_t gls_crc32_join(uint32_t first, uint32_t second, uint64_t bytes);

/* --- Hashes that are kept in files: by xxHash, whose values are fixed for good. */

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
