/* Reads images: NIfTI here, as a single file or a .hdr/.img pair, compressed or not; MRtrix3's formats by mif.c. */
#include "image/nifti_read.h"
#include "image/formats.h"
#include "image/grid.h"
#include "image/mif.h"
#include "image/mif_header.h"
#include "image/nifti_header.h"
#include "image/stream.h"
#include "util/status.h"
#include "util/text.h"

#include <errno.h>
#include <nifti1.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a block: a multiple of the size of any value, and so few that the block is still in the cache when it is
 * converted. RING: number of blocks between the thread that decompresses and the thread that converts. */
#define BLOCK_BYTES ((size_t)256 << 10)
#define RING 4

/* State of reading one image. out: all values as float or labels, x fastest. */
typedef struct reader {
    const char *path; /* file with the voxels */
    gls_stream *stream;
    const gls_nifti_header *header;
    float *out;    /* with header->values.labels int32_t, of the same size */
    bool *rounded; /* set to true where a whole number was rounded */
} reader;

/* Returns the error for a file that ends too early. found: number of bytes of voxel values in it. */
static gls_status truncated(const reader *r, uint64_t found)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated: %llu of %llu bytes of voxel values are there", r->path,
                    (unsigned long long)found, (unsigned long long)r->header->bytes);
}

/* Converts n values. Several threads may call it. */
static void convert_values(const reader *r, void *in, size_t n, float *out)
{
    if (!gls_values_read(&r->header->values, in, n, out)) return;
#pragma omp atomic write
    *r->rounded = true;
}

/* Number of bytes of a block of voxel values: BLOCK_BYTES, in the last block perhaps fewer. */
static size_t block_bytes(const reader *r, uint64_t block)
{
    uint64_t left = r->header->bytes - block * BLOCK_BYTES;
    return left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
}

/* Reads `bytes` bytes at `offset`. Returns 0, errno, or -1 at the end of the file. */
static int read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return -1;
        done += (size_t)n;
    }
    return 0;
}

/* Whether the file has the values as floats of this machine, without scaling, so that reading is copying. */
static bool is_plain(const gls_values *v)
{
    return !v->labels && v->datatype == NIFTI_TYPE_FLOAT32 && !v->swapped && v->slope == 1.0 && v->inter == 0.0;
}

/* Reads a file that is not compressed: each thread reads and converts blocks of its own. */
static gls_status read_plain_file(const reader *r)
{
    const gls_nifti_header *h = r->header;
    const int64_t n_blocks = (int64_t)((h->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    const size_t per_block = BLOCK_BYTES / h->values.bytes;
    const bool plain = is_plain(&h->values);
    int failure = 0;
#pragma omp parallel if (n_blocks > 1)
    {
        void *buffer = plain ? NULL : malloc(BLOCK_BYTES);
#pragma omp for schedule(static)
        for (int64_t b = 0; b < n_blocks; b++) {
            size_t bytes = block_bytes(r, (uint64_t)b);
            float *out = r->out + (size_t)b * per_block;
            void *to = plain ? out : buffer;
            int result =
                to ? read_at(gls_stream_fd(r->stream), to, bytes, h->offset + (uint64_t)b * BLOCK_BYTES) : ENOMEM;
            if (result == 0 && !plain) convert_values(r, buffer, bytes / h->values.bytes, out);
            if (result != 0) {
#pragma omp atomic write
                failure = result;
            }
        }
        free(buffer);
    }
    if (failure == -1) return truncated(r, 0);
    if (failure == ENOMEM) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    if (failure) return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", r->path, strerror(failure));
    return GLS_OK;
}

/* A ring of blocks: a second thread decompresses into it while the calling thread converts. */
typedef struct pipeline {
    const reader *r;
    unsigned char *ring; /* RING blocks of BLOCK_BYTES */
    uint64_t n_blocks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, emptied; /* number of blocks: filled: decompressed into the ring; emptied: converted */
    gls_status status;
    char message[1024]; /* error message of the second thread, for the calling thread, because each thread has a
                           gls_last_error() of its own */
} pipeline;

/* Reads the next block of voxel values from the stream, in the order of the file. */
static gls_status fill_block(const reader *r, uint64_t block, void *to)
{
    size_t got, bytes = block_bytes(r, block);
    gls_status status = gls_stream_read(r->stream, to, bytes, &got);
    if (!status && got < bytes) status = truncated(r, block * BLOCK_BYTES + got);
    return status;
}

/* The second thread: decompresses blocks into the ring, and waits while the ring is full. */
static void *unpack(void *argument)
{
    pipeline *p = argument;
    for (uint64_t b = 0; b < p->n_blocks; b++) {
        pthread_mutex_lock(&p->lock);
        while (b - p->emptied >= RING) pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        gls_status status = fill_block(p->r, b, p->ring + b % RING * BLOCK_BYTES);
        pthread_mutex_lock(&p->lock);
        if (!status)
            p->filled++;
        else
            snprintf(p->message, sizeof p->message, "%s", gls_last_error());
        p->status = status;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (status) break;
    }
    return NULL;
}

/* The calling thread: converts blocks of the ring to float as they arrive. */
static void convert(pipeline *p)
{
    const reader *r = p->r;
    const gls_values *values = &r->header->values;
    for (uint64_t b = 0; b < p->n_blocks; b++) {
        pthread_mutex_lock(&p->lock);
        while (p->filled <= b && !p->status) pthread_cond_wait(&p->changed, &p->lock);
        bool there = p->filled > b;
        pthread_mutex_unlock(&p->lock);
        if (!there) return;
        convert_values(r, p->ring + b % RING * BLOCK_BYTES, block_bytes(r, b) / values->bytes,
                       r->out + b * (BLOCK_BYTES / values->bytes));
        pthread_mutex_lock(&p->lock);
        p->emptied++;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Reads compressed values: a second thread decompresses while the calling thread converts to float. */
static gls_status read_pipeline(const reader *r)
{
    pthread_t thread;
    pipeline p = {
        .r = r, .ring = malloc(RING * BLOCK_BYTES), .n_blocks = (r->header->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES};
    if (!p.ring) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    if (pthread_create(&thread, NULL, unpack, &p) == 0) {
        convert(&p);
        pthread_join(thread, NULL);
        if (p.status) gls_error_set("%s", p.message);
    } else {
        p.status = gls_fail(GLS_ERR_MEMORY, "%s: cannot start a thread", r->path);
    }
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    free(p.ring);
    return p.status;
}

/* Reads a compressed file. Values that need conversion take two threads, one of which decompresses. */
static gls_status read_packed_file(const reader *r)
{
    const uint64_t bytes = r->header->bytes;
    gls_status status;
    if (is_plain(&r->header->values)) {
        size_t got;
        status = gls_stream_read(r->stream, r->out, (size_t)bytes, &got);
        if (!status && got < bytes) status = truncated(r, got);
    } else {
        status = read_pipeline(r);
    }
    return !status ? gls_stream_verify(r->stream) : status;
}

/* Skips bytes of the stream by reading them, because a compressed stream cannot seek. */
static gls_status skip(const reader *r, uint64_t bytes)
{
    char buffer[4096];
    while (bytes > 0) {
        size_t got, n = bytes < sizeof buffer ? (size_t)bytes : sizeof buffer;
        gls_status status = gls_stream_read(r->stream, buffer, n, &got);
        if (status) return status;
        if (got < n) return truncated(r, 0);
        bytes -= got;
    }
    return GLS_OK;
}

/* Reads the voxels from r->stream, whose first `used` bytes were the header. */
static gls_status read_voxels(reader *r, uint64_t used, gls_image **image)
{
    const gls_nifti_header *h = r->header;
    uint64_t bound = gls_stream_bound(r->stream);
    if (bound < h->offset + h->bytes) return truncated(r, bound > h->offset ? bound - h->offset : 0);
    gls_image *made;
    gls_status status = gls_image_allocate(&h->grid, h->n_volumes, false, &made);
    if (status)
        return gls_fail(status, "%s: no memory for %d x %d x %d x %zu values", r->path, h->grid.dim[0], h->grid.dim[1],
                        h->grid.dim[2], h->n_volumes);
    r->out = made->data;
    if (gls_stream_fd(r->stream) >= 0) {
        status = read_plain_file(r);
    } else {
        status = skip(r, h->offset - used);
        if (!status) status = read_packed_file(r);
    }
    if (!status)
        *image = made;
    else
        gls_image_destroy(made);
    return status;
}

/* Path of the other file of a pair: replaces the suffix `from` by `to` ("hdr", "img") in the same case. If only one of
 * the compressed and the uncompressed file exists, the path is that of the file that exists. */
static char *pair_name(const char *path, const char *from, const char *to)
{
    size_t n = strlen(path);
    size_t stem = n > 7 && !gls_case_compare(path + n - 3, ".gz") ? n - 3 : n;
    if (stem < 4 || path[stem - 4] != '.' || gls_case_compare_n(path + stem - 3, from, 3)) return NULL;
    char *name = malloc(n + 4);
    if (!name) return NULL;
    memcpy(name, path, n + 1);
    for (int i = 0; i < 3; i++)
        name[stem - 3 + (size_t)i] = (char)(path[stem - 3 + (size_t)i] < 'a' ? to[i] - 32 : to[i]);
    if (access(name, F_OK) != 0) {
        if (stem == n)
            strcpy(name + n, ".gz");
        else
            name[stem] = '\0';
        if (access(name, F_OK) != 0) memcpy(name + stem, path + stem, n - stem + 1);
    }
    return name;
}

char *gls_nifti_pair(const char *path)
{
    char *other = pair_name(path, "hdr", "img");
    return other ? other : pair_name(path, "img", "hdr");
}

/* Replaces an image whose volumes are x of all vectors, then y, then z, by one in which x, y and z of a vector follow
 * each other. */
static gls_status join_components(const char *path, gls_image **image)
{
    gls_image *from = *image, *to = NULL;
    const size_t n = gls_grid_voxels(&from->grid), n_vectors = from->n_volumes / 3;
    *image = NULL;
    gls_status status = gls_image_allocate(&from->grid, from->n_volumes, false, &to);
    for (size_t v = 0; v < from->n_volumes && !status; v++)
        memcpy(to->data + v * n, from->data + (v / 3 + v % 3 * n_vectors) * n, n * sizeof *to->data);
    gls_image_destroy(from);
    *image = to;
    return status ? gls_fail(status, "%s: no memory for its vectors", path) : GLS_OK;
}

/* A NIfTI image is one file, or a pair: NAME.hdr with the header and NAME.img with the values, each of which the user
 * may name. Both may be compressed. vectors: a fifth dimension of three is read. n_fields: see
 * gls_image_read_fields(); NULL: another fifth dimension is refused. */
static gls_status read_nifti(const char *path, gls_image_kind kind, bool vectors, size_t *n_fields, bool labels,
                             gls_image **image, bool *rounded)
{
    gls_nifti_header header;
    gls_stream *stream = NULL;
    uint64_t used = 0;
    char *header_path = pair_name(path, "img", "hdr"), *image_path = NULL;
    const char *name = header_path ? header_path : path;
    gls_status status = gls_stream_open(name, &stream);
    if (!status) status = gls_nifti_read_header(stream, name, &header, &used);
    header.values.labels = labels;
    if (!status && header.fifth > 1 && !n_fields && !(vectors && header.fifth == 3))
        status = gls_fail(GLS_ERR_INPUT, "%s: has 5 dimensions (dimension 5 is %d), but at most 4 can be used", name,
                          header.fifth);
    if (!status) status = gls_image_kind_check(name, kind, &header.grid, header.n_volumes);
    if (status) goto done;
    reader r = {.path = name, .stream = stream, .header = &header, .rounded = rounded};
    if (!header.single_file) {
        image_path = pair_name(name, "hdr", "img");
        if (!image_path) {
            status = gls_fail(GLS_ERR_INPUT, "%s: is the header of a pair, but its name does not end in .hdr", name);
            goto done;
        }
        gls_stream_close(stream);
        stream = NULL;
        used = 0;
        status = gls_stream_open(image_path, &stream);
        if (status) goto done;
        r.path = image_path;
        r.stream = stream;
        /* MRtrix3 writes the offset of a single file into the header of a pair, but stores the values from byte 0 */
        if (gls_stream_bound(stream) == header.bytes) header.offset = 0;
    }
    status = read_voxels(&r, used, image);
    if (!status && header.fifth == 3) status = join_components(path, image);
    if (n_fields) *n_fields = header.fifth == 3 ? 1 : (size_t)header.fifth;
done:
    gls_stream_close(stream);
    free(header_path);
    free(image_path);
    return status;
}

gls_status gls_image_read_rounded(const char *path, gls_image_kind kind, gls_image **image, bool *rounded)
{
    GLS_REQUIRE(path && image);
    return gls_mif_is_name(path) ? gls_mif_read(path, kind, false, NULL, image, rounded)
                                 : read_nifti(path, kind, false, NULL, false, image, rounded);
}

void gls_image_warn_rounded(const char *path)
{
    gls_warn_of_file(
        "%s: has whole numbers above 16777216, which are rounded here, as values are float32: if they are labels, "
        "renumber them",
        path);
}

gls_status gls_image_read(const char *path, gls_image_kind kind, gls_image **image)
{
    bool rounded = false;
    gls_status status = gls_image_read_rounded(path, kind, image, &rounded);
    if (!status && rounded) gls_image_warn_rounded(path);
    return status;
}

gls_status gls_image_read_as_labels(const char *path, gls_image **image)
{
    bool rounded;
    return gls_mif_is_name(path) ? gls_mif_read(path, GLS_IMAGE_3D, true, NULL, image, &rounded)
                                 : read_nifti(path, GLS_IMAGE_3D, false, NULL, true, image, &rounded);
}

gls_status gls_image_read_header(const char *path, gls_image_kind kind, gls_image **image)
{
    gls_image *made = calloc(1, sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "%s: no memory for its header", path);
    gls_status status;
    if (gls_mif_is_name(path)) {
        gls_mif_header header;
        status = gls_mif_read_header(path, &header);
        if (!status) {
            made->grid = header.grid;
            made->n_volumes = header.n_volumes;
            gls_mif_header_finish(&header);
        }
    } else {
        gls_nifti_header header;
        gls_stream *stream = NULL;
        uint64_t used = 0;
        char *header_path = pair_name(path, "img", "hdr");
        const char *name = header_path ? header_path : path;
        status = gls_stream_open(name, &stream);
        if (!status) status = gls_nifti_read_header(stream, name, &header, &used);
        gls_stream_close(stream);
        free(header_path);
        if (!status) {
            made->grid = header.grid;
            made->n_volumes = header.n_volumes;
        }
    }
    if (!status) status = gls_image_kind_check(path, kind, &made->grid, made->n_volumes);
    if (!status)
        *image = made;
    else
        gls_image_destroy(made);
    return status;
}

gls_status gls_image_read_vectors(const char *path, gls_image **image)
{
    bool rounded;
    if (gls_case_ends(path, ".pam5"))
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: is DIPY's format of peaks, which is not read: write NIfTI with dipy.io.peaks.pam_to_niftis "
            "(or the command dipy_pam2nifti) and give its peaks_dirs, with --peaks-frame image",
            path);
    return gls_mif_is_name(path) ? gls_mif_read(path, GLS_IMAGE_ANY, false, NULL, image, &rounded)
                                 : read_nifti(path, GLS_IMAGE_ANY, true, NULL, false, image, &rounded);
}

gls_status gls_image_read_fields(const char *path, size_t *n_fields, gls_image **image)
{
    bool rounded;
    return gls_mif_is_name(path) ? gls_mif_read(path, GLS_IMAGE_ANY, false, n_fields, image, &rounded)
                                 : read_nifti(path, GLS_IMAGE_ANY, true, n_fields, false, image, &rounded);
}
