/* Reads whole files, compares paths, finds the files that inputs name, makes and removes folders, and moves bytes
 * through file descriptors. */
#include "util/file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/status.h"

/* Linux moves at most 0x7ffff000 bytes in one call; smaller pieces keep interruptions short. */
#define MAX_PIECE ((size_t)1 << 30)
/* gls_fd_write_while() calls go_on() each time it has waited this long for the reader of a pipe, ms. */
#define WAIT_MS 100

const char *gls_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool gls_same_file(const char *a, const char *b)
{
    struct stat at_a, at_b;
    const bool has_a = stat(a, &at_a) == 0, has_b = stat(b, &at_b) == 0;
    if (has_a && has_b) return at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    /* a file is missing, so compare folder and name */
    const size_t dir_a = (size_t)(gls_file_name(a) - a), dir_b = (size_t)(gls_file_name(b) - b);
    if (has_a != has_b || strcmp(a + dir_a, b + dir_b) != 0) return false;
    char *folder_a = dir_a ? strndup(a, dir_a) : strdup("."), *folder_b = dir_b ? strndup(b, dir_b) : strdup(".");
    const bool same = folder_a && folder_b && stat(folder_a, &at_a) == 0 && stat(folder_b, &at_b) == 0 &&
                      at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    free(folder_a);
    free(folder_b);
    return same;
}

gls_status gls_file_differs(const char *path, const char *const *others, size_t n_others)
{
    for (size_t i = 0; i < n_others; i++)
        if (others[i] && gls_same_file(path, others[i]))
            return gls_fail(GLS_ERR_OUTPUT, "%s: is the same file as another output, %s", path, others[i]);
    return GLS_OK;
}

bool gls_fd_write(int fd, const void *data, size_t bytes)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = write(fd, p, bytes < MAX_PIECE ? bytes : MAX_PIECE);
        if (n < 0 && errno == EINTR) continue;
        /* if write() writes 0 bytes and reports no error, take it for a full disk */
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

size_t gls_fd_write_while(int fd, const void *data, size_t bytes, bool (*go_on)(void))
{
    const char *p = data;
    size_t done = 0;
    struct stat info;
    const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    while (done < bytes) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        /* pieces of at most PIPE_BUF bytes: a pipe that is ready for writing takes so many without blocking */
        const size_t piece = is_file || bytes - done < PIPE_BUF ? bytes - done : PIPE_BUF;
        const int found = poll(&ready, 1, WAIT_MS);
        if (found == 0 && go_on()) continue;
        if (found == 0) break;
        const ssize_t n = found < 0 ? -1 : write(fd, p + done, piece);
        if (n < 0 && errno != EINTR && errno != EAGAIN) break;
        if (n > 0) done += (size_t)n;
    }
    return done;
}

int64_t gls_fd_read(int fd, void *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < MAX_PIECE ? bytes - done : MAX_PIECE;
        ssize_t n = read(fd, (char *)data + done, piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

/* Turns bytes with a NUL behind them into text: removes the byte order mark of UTF-8, which editors and spreadsheets
 * write. The byte order mark of UTF-16 is an error, after which `text` is freed. */
static gls_status take_text(const char *path, char *text, size_t bytes, char **data, size_t *n)
{
    if (bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        free(text);
        return gls_fail(GLS_ERR_INPUT, "%s: is a text in UTF-16: save the text as UTF-8", path);
    }
    const size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (mark) memmove(text, text + mark, bytes - mark + 1);
    *data = text;
    *n = bytes - mark;
    return GLS_OK;
}

gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n)
{
    /* a regular file is read in one go; for a pipe the buffer doubles */
    size_t capacity = 1 << 16, used = 0, got;
    char *text = NULL;
    gls_input input;
    gls_status status = gls_input_open(path, &input);
    if (status) return status;
    if (input.regular && input.bytes > max_bytes)
        status = gls_fail(GLS_ERR_INPUT, "%s: too large: has %llu bytes, but at most %zu are expected", path,
                          (unsigned long long)input.bytes, max_bytes);
    /* one byte more than the file has: a read that does not fill the buffer was the last */
    if (input.regular) capacity = (size_t)input.bytes + 1;
    while (!status) {
        /* one byte for the NUL */
        char *grown = realloc(text, capacity + 1);
        if (!grown) {
            status = gls_fail(GLS_ERR_MEMORY, "%s: no memory for %zu bytes", path, capacity);
            break;
        }
        text = grown;
        status = gls_input_read(&input, text + used, capacity - used, &got);
        if (status) break;
        used += got;
        if (used < capacity) break;
        if (used > max_bytes) status = gls_fail(GLS_ERR_INPUT, "%s: too large: more than %zu bytes", path, max_bytes);
        capacity *= 2;
    }
    gls_input_close(&input);
    if (status) {
        free(text);
        return status;
    }
    text[used] = '\0';
    return take_text(path, text, used, data, n);
}

gls_status gls_file_read_text(const char *path, size_t max_bytes, char **out, size_t *n)
{
    char *text = NULL;
    size_t size = 0, to = 0;
    gls_status status = gls_file_read(path, max_bytes, &text, &size);
    if (status) return status;
    if (size >= 2 && memcmp(text, "\x1f\x8b", 2) == 0) {
        free(text);
        return gls_fail(GLS_ERR_INPUT, "%s: is compressed by gzip, but a text is needed: unpack it first (gunzip)",
                        path);
    }
    while (size > 0 && text[size - 1] == '\0') size--;
    if (memchr(text, '\0', size)) {
        free(text);
        return gls_fail(GLS_ERR_INPUT, "%s: is no text: has NUL bytes, as text in UTF-16 has: save the text as UTF-8",
                        path);
    }
    /* line ends of Windows and of old Macs become \n */
    for (size_t from = 0; from < size; from++) {
        const bool is_return = text[from] == '\r';
        if (is_return && from + 1 < size && text[from + 1] == '\n') continue;
        text[to++] = is_return ? '\n' : text[from];
    }
    text[to] = '\0';
    *out = text;
    *n = to;
    return GLS_OK;
}

char *gls_file_named(const char *text)
{
    size_t length = strlen(text);
    if (access(text, F_OK) == 0) return strdup(text);
    /* FILE:LABELS and FILE=NAME: cut at the last : or = */
    while (length > 0 && text[length - 1] != ':' && text[length - 1] != '=') length--;
    char *file = length < 2 ? NULL : strndup(text, length - 1);
    if (file && access(file, F_OK) == 0) return file;
    free(file);
    return NULL;
}

/* Makes one folder; one that exists is success. first: see gls_folders_make(). */
static gls_status make_folder(const char *path, char first[1536])
{
    const bool made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
    if (made && first && !*first) snprintf(first, 1536, "%s", path);
    return GLS_OK;
}

gls_status gls_folders_make(const char *path, char first[1536])
{
    char part[1536];
    gls_status status = GLS_OK;
    if (strlen(path) >= sizeof part)
        return gls_fail(GLS_ERR_OUTPUT, "%.40s...: the name is too long: it has more than %zu bytes", path,
                        sizeof part - 1);
    strcpy(part, path);
    for (char *slash = part + 1; *slash && !status; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        status = make_folder(part, first);
        *slash = '/';
    }
    return status ? status : make_folder(part, first);
}

void gls_folders_remove(const char *path, const char *first)
{
    char part[1536];
    const size_t n = strlen(first);
    snprintf(part, sizeof part, "%s", path);
    /* remove folders upwards; the first one that is not empty ends the loop */
    while (n > 0 && strlen(part) >= n && (rmdir(part) == 0 || errno == ENOENT)) {
        char *slash = strrchr(part, '/');
        if (!slash) return;
        *slash = '\0';
    }
}
