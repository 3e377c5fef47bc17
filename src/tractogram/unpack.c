/* Files that are packed, or that hold a tractogram in another form, as .tck.gz and .vtp do: they are unpacked to a file
 * without a name, which is then read in their place. */
#include "tractogram/unpack.h"
#include "image/stream.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/vtk_xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/formats.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

#define BLOCK_BYTES ((size_t)1 << 20)

gls_status gls_scratch_open(const char *path, int *fd)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char *name = NULL;
    /* file systems that know no files without names */
    if (*fd < 0 && gls_asprintf(&name, "%s/glslines-XXXXXX", folder) >= 0) {
        *fd = mkostemp(name, O_CLOEXEC);
        if (*fd >= 0) unlink(name);
    }
    free(name);
    if (*fd >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot unpack it to a temporary file in %s: %s: set TMPDIR to another folder",
                    path, folder, strerror(errno));
}

/* Unpacks gzip. */
static gls_status unpack_gzip(gls_tractogram_reader *r, int fd)
{
    gls_stream *stream = NULL;
    char *block = malloc(BLOCK_BYTES);
    size_t got = BLOCK_BYTES;
    gls_status status = block ? gls_stream_open_regular(r->path, &stream) : gls_reader_no_memory(r);
    while (!status && got == BLOCK_BYTES) {
        status = gls_stream_read(stream, block, BLOCK_BYTES, &got);
        if (!status && !gls_fd_write(fd, block, got))
            status = gls_fail(GLS_ERR_OUTPUT,
                              "%s: cannot unpack it to a temporary file: %s: set TMPDIR to a folder with room", r->path,
                              strerror(errno));
    }
    gls_stream_close(stream);
    free(block);
    return status;
}

gls_status gls_reader_unpack(gls_tractogram_reader *r, gls_packing packing)
{
    int fd;
    struct stat info;
    gls_status status = gls_scratch_open(r->path, &fd);
    if (status) return status;
    status = packing == GLS_PACKED_GZIP ? unpack_gzip(r, fd) : gls_vtk_from_xml(r, fd);
    if (!status && fstat(fd, &info) != 0) status = gls_fail(GLS_ERR_INPUT, "%s: %s", r->path, strerror(errno));
    if (status) {
        close(fd);
        return status;
    }
    close(r->fd);
    r->fd = fd;
    r->info.bytes = (uint64_t)info.st_size;
    r->is_unpacked = true;
    r->info.is_packed |= packing == GLS_PACKED_GZIP;
    return GLS_OK;
}
