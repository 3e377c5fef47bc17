/* The log of a data set, logs/units.tsv; locks between processes; files that each run rewrites. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bids/dataset_parts.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Largest log, bytes. */
#define MAX_LOG ((size_t)256 << 20)

/* Lines of the existing log, and lines of this run. */
typedef struct log_lines {
    struct log_line {
        const char *text; /* points into the text of all lines */
        bool fresh;       /* true: the line is of this run */
    } * line;
    /* number of lines, and of lines for which memory is allocated */
    size_t n, capacity;
} log_lines;

/* Splits a text into lines, without the header. The lines point into the text. */
static gls_status add_lines(log_lines *l, char *text, bool fresh)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strcmp(line, GLS_DATASET_LOG_HEADER) == 0) continue;
        if (!gls_list_reserve(&l->line, l->n, &l->capacity, 64, sizeof *l->line)) return gls_no_memory();
        l->line[l->n++] = (struct log_line){line, fresh};
    }
    return GLS_OK;
}

/* Compares two lines by their first cell, the name of the series. Returns a value below, equal to or above 0. */
static int compare_names(const char *a, const char *b)
{
    const size_t n = strcspn(a, "\t"), m = strcspn(b, "\t");
    const int order = memcmp(a, b, n < m ? n : m);
    return order != 0 ? order : (n > m) - (n < m);
}

/* Comparison for qsort(): lines by name, the line of this run behind the old line of the same series. */
static int by_name(const void *a, const void *b)
{
    const struct log_line *x = a, *y = b;
    const int order = compare_names(x->text, y->text);
    return order ? order : x->fresh - y->fresh;
}

/* Whether the line is of a series that another run works on. That run logs the outcome. */
static bool is_busy(const struct log_line *line)
{
    return strncmp(line->text + strcspn(line->text, "\t"), "\tbusy\t", 6) == 0;
}

/* Whether `before` is the old line and `fresh` the new line of one series. */
static bool is_pair(const struct log_line *before, const struct log_line *fresh)
{
    return !before->fresh && fresh->fresh && compare_names(before->text, fresh->text) == 0;
}

/* Joins old and new lines, sorted by name. A new line replaces the old line of its series, except a new line "busy". */
static gls_status merge(char *new_text, char *old_text, gls_text *out)
{
    log_lines l = {0};
    gls_status status = old_text ? add_lines(&l, old_text, false) : GLS_OK;
    if (!status) status = add_lines(&l, new_text, true);
    if (l.n > 0) qsort(l.line, l.n, sizeof *l.line, by_name);
    gls_text_puts(out, GLS_DATASET_LOG_HEADER "\n");
    for (size_t i = 0; i < l.n && !status; i++) {
        const struct log_line *line = &l.line[i];
        const bool replaced = i + 1 < l.n && is_pair(line, line + 1) && !is_busy(line + 1),
                   dropped = i > 0 && is_pair(line - 1, line) && is_busy(line);
        if (!replaced && !dropped) gls_text_printf(out, "%s\n", line->text);
    }
    free(l.line);
    return status;
}

/* Merges lines into the log. The caller holds the lock. */
static gls_status add_locked(const char *path, const char *lines)
{
    struct stat info;
    gls_text text = {0};
    size_t bytes;
    char *old = NULL, *fresh = gls_text_copy(lines);
    gls_status status = fresh ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status && stat(path, &info) == 0) status = gls_file_read(path, MAX_LOG, &old, &bytes);
    if (!status) status = merge(fresh, old, &text);
    if (!status && text.failed) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_dataset_rewrite(path, GLS_DATASET_LOG_HEADER, text.data, text.length, NULL);
    gls_text_finish(&text);
    free(old);
    free(fresh);
    return status;
}

gls_status gls_dataset_log_add(const gls_dataset_options *o, const char *lines)
{
    char path[GLS_DATASET_MAX_PATH], lock[GLS_DATASET_MAX_PATH];
    int fd = -1;
    snprintf(path, sizeof path, "%s/logs/units.tsv", o->output);
    snprintf(lock, sizeof lock, "%s/logs/units.lock", o->output);
    gls_status status = gls_dataset_lock(lock, true, &fd);
    if (status) return status;
    status = add_locked(path, lines);
    gls_dataset_unlock(lock, fd);
    return status;
}

/* --- Locks between processes that write the same output of a data set. */

/* Whether the locked file still has its name. The previous holder of the lock may have removed the file. */
static bool has_name(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

gls_status gls_dataset_lock(const char *path, bool wait, int *fd)
{
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (*fd < 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be opened: %s", path, strerror(errno));
        int result;
        do result = fcntl(*fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
        while (result != 0 && errno == EINTR);
        if (result != 0 && (errno == EAGAIN || errno == EACCES)) {
            close(*fd);
            *fd = -1;
            return GLS_OK;
        }
        if (result != 0)
            gls_log(GLS_LOG_WARNING,
                    "%s: cannot be locked (%s): make sure that no other run works on this data set now", path,
                    strerror(errno));
        if (result != 0 || has_name(*fd, path)) return GLS_OK;
        close(*fd);
    }
}

void gls_dataset_unlock(const char *path, int fd)
{
    struct stat info;
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && info.st_size == 0) unlink(path); /* Unlink while the lock is held. */
    close(fd);
}

/* --- Files of a data set that each run rewrites, such as its tables. Only files that glslines wrote are replaced. So
 * OUT_DIR may be a data set of another program, which keeps its files; the target of a link is kept, too. */

#define BEGINNING ((size_t)64 << 10)

bool gls_dataset_owns(const char *path, const char *mark)
{
    uint64_t bytes = 0;
    int fd;
    if (access(path, F_OK) != 0) return true;
    char *first = malloc(BEGINNING);
    bool ours = false;
    if (first && !gls_regular_open(path, &fd, &bytes)) {
        const int64_t n = gls_fd_read(fd, first, BEGINNING);
        ours = n > 0 && memmem(first, (size_t)n, mark, strlen(mark));
        close(fd);
    }
    free(first);
    return ours;
}

gls_status gls_dataset_may_rewrite(const char *path, const char *mark)
{
    if (gls_dataset_owns(path, mark)) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT,
                    "%s: was not written by glslines bids, and is not replaced: move it to another place", path);
}

gls_status gls_dataset_rewrite(const char *path, const char *mark, const char *text, size_t bytes,
                               gls_output_group *group)
{
    gls_status status = gls_dataset_may_rewrite(path, mark);
    return status ? status : gls_file_write(path, true, group, text, bytes);
}
