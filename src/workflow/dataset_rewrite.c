/* Files of a data set that each run rewrites, such as its tables. Only files that glslines wrote are replaced, so that
 * a data set of another program given as OUT_DIR keeps its files, and so does the target of a link. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "workflow/dataset.h"

/* Bytes of a file in which its mark must stand. */
#define BEGINNING ((size_t)64 << 10)

bool gls_dataset_owns(const char *path, const char *mark)
{
    uint64_t bytes = 0;
    int fd;
    if (access(path, F_OK) != 0) return true;
    char *first = malloc(BEGINNING);
    bool ours = false;
    /* only regular files: a pipe would block, a device may have side effects */
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
