/* Writes images, plain or compressed, in the format that their name asks for: NIfTI or MRtrix3's MIF. */
#include "image/image_write.h"
#include "image/formats.h"
#include "image/mif_header.h"
#include "image/mif_write.h"
#include "image/nifti_write.h"
#include "image/stream.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* GZIP_LEVEL: level of compression of .nii.gz. BLOCK_BYTES: bytes that are converted at a time. PIECE_BYTES: bytes that
 * one thread compresses at a time. */
#define GZIP_LEVEL 3
#define BLOCK_BYTES ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)1 << 20)
#define PIECES 16 /* number of pieces compressed between two writes */

/* The parts of a file to be written: its header and its values. */
typedef struct source {
    gls_image_header header;
    const float *values; /* values to convert to type; NULL: raw holds the bytes as they are */
    gls_image_type type;
    const unsigned char *raw;
    size_t value;     /* size of one value in the file */
    const char *what; /* text for the description; NULL: none */
} source;

/* Rounds x and limits it to low .. high. NaN becomes 0. */
static float to_range(float x, float low, float high)
{
    if (isnan(x)) return 0.0f;
    x = rintf(x);
    return x < low ? low : x > high ? high : x;
}

/* Converts n floats to the type. Integers round half to even and saturate; NaN becomes 0. */
static void convert_values(gls_image_type type, const float *in, size_t n, void *out)
{
    if (type == GLS_IMAGE_FLOAT32) {
        memcpy(out, in, n * sizeof *in);
    } else if (type == GLS_IMAGE_INT16) {
        int16_t *p = out;
        for (size_t i = 0; i < n; i++) p[i] = (int16_t)to_range(in[i], -32768.0f, 32767.0f);
    } else {
        uint8_t *p = out;
        for (size_t i = 0; i < n; i++) p[i] = (uint8_t)to_range(in[i], 0.0f, 255.0f);
    }
}

/* Stores bytes first .. first + bytes - 1 of the file in buffer. Callers cut the file where no value is split: sizes of
 * header and pieces are multiples of the value size. */
static void fill(void *user, uint64_t first, size_t bytes, void *buffer)
{
    const source *s = user;
    unsigned char *to = buffer;
    if (first < s->header.bytes) {
        size_t n = s->header.bytes - (size_t)first < bytes ? s->header.bytes - (size_t)first : bytes;
        memcpy(to, s->header.data + first, n);
        to += n;
        bytes -= n;
        first += n;
    }
    if (s->values)
        convert_values(s->type, s->values + (first - s->header.bytes) / s->value, bytes / s->value, to);
    else
        memcpy(to, s->raw + (first - s->header.bytes), bytes);
}

/* Writes header and values block by block. */
static gls_status write_plain(gls_output *output, source *s, uint64_t total)
{
    gls_status status = GLS_OK;
    void *buffer = malloc(BLOCK_BYTES);
    if (!buffer) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", output->path);
    for (uint64_t first = 0; first < total && !status; first += BLOCK_BYTES) {
        size_t bytes = total - first < BLOCK_BYTES ? (size_t)(total - first) : BLOCK_BYTES;
        fill(s, first, bytes, buffer);
        status = gls_output_write(output, buffer, bytes);
    }
    free(buffer);
    return status;
}

bool gls_image_is_output(const char *path)
{
    static const char *const suffixes[] = {".nii", ".nii.gz", ".mif", ".mif.gz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (gls_case_ends(path, suffixes[i])) return true;
    return false;
}

gls_status gls_image_name_check(const char *path)
{
    GLS_REQUIRE(path);
    if (gls_image_is_output(path)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s: the name of an image must end in .nii, .nii.gz, .mif or .mif.gz", path);
}

/* Fills buffer with bytes first .. first + bytes - 1 of the data to be compressed. Called from several threads. */
typedef void (*pack_fill)(void *user, uint64_t first, size_t bytes, void *buffer);

/* A piece of a gzip file that one thread compresses. */
typedef struct piece {
    unsigned char *packed;
    size_t n;
    uint32_t crc;
    bool ok;
} piece;

/* Compresses a piece to raw deflate data that end on a byte boundary, so that the pieces together are one deflate
 * stream. last: the piece ends the stream. */
static bool pack(piece *p, size_t capacity, const void *data, size_t bytes, bool last)
{
    z_stream z = {0};
    if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    z.next_in = (z_const Bytef *)data;
    z.avail_in = (uInt)bytes;
    z.next_out = p->packed;
    z.avail_out = (uInt)capacity;
    int result = deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH);
    bool ok = z.avail_in == 0 && (last ? result == Z_STREAM_END : result == Z_OK && z.avail_out > 0);
    p->n = capacity - z.avail_out;
    p->crc = (uint32_t)crc32(0, data, (uInt)bytes);
    deflateEnd(&z);
    return ok;
}

/* Number of bytes of piece i of `total` bytes: PIECE_BYTES, in the last piece perhaps fewer. */
static size_t piece_bytes(uint64_t total, uint64_t i)
{
    uint64_t left = total - i * PIECE_BYTES;
    return left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
}

/* Appends `total` bytes to output as one gzip member. Compresses PIECES pieces at a time on all threads, then writes
 * them in order. The checksum of all data is combined from the checksums of the pieces. The output depends on the size
 * of the pieces, not on the number of threads. */
static gls_status write_gzip(gls_output *output, uint64_t total, pack_fill fill, void *user)
{
    /* magic number, method deflate, no flags, no time of change, system Unix (RFC 1952) */
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    const size_t capacity = compressBound(PIECE_BYTES) + 64;
    const uint64_t n_pieces = total > 0 ? (total + PIECE_BYTES - 1) / PIECE_BYTES : 1;
    uint32_t crc = 0;
    gls_status status = GLS_OK;
    piece pieces[PIECES] = {{0}};
    for (int i = 0; i < PIECES; i++) {
        pieces[i].packed = malloc(capacity);
        if (!pieces[i].packed) {
            status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", output->path);
            goto done;
        }
    }
    status = gls_output_write(output, head, sizeof head);
    for (uint64_t first = 0; first < n_pieces && !status; first += PIECES) {
        int n = n_pieces - first < PIECES ? (int)(n_pieces - first) : PIECES;
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < n; i++) {
            size_t bytes = piece_bytes(total, first + (uint64_t)i);
            void *data = malloc(PIECE_BYTES);
            pieces[i].ok = data != NULL;
            if (data) {
                fill(user, (first + (uint64_t)i) * PIECE_BYTES, bytes, data);
                pieces[i].ok = pack(&pieces[i], capacity, data, bytes, first + (uint64_t)i + 1 == n_pieces);
            }
            free(data);
        }
        for (int i = 0; i < n && !status; i++) {
            if (!pieces[i].ok)
                status = gls_fail(GLS_ERR_MEMORY, "%s: no memory to compress", output->path);
            else
                status = gls_output_write(output, pieces[i].packed, pieces[i].n);
            crc = (uint32_t)crc32_combine(crc, pieces[i].crc, (z_off_t)piece_bytes(total, first + (uint64_t)i));
        }
    }
    if (!status) {
        /* the trailer: checksum and size modulo 2^32 of the data, little-endian */
        const uint32_t sum[2] = {crc, (uint32_t)total};
        unsigned char tail[8];
        for (int i = 0; i < 8; i++) tail[i] = (unsigned char)(sum[i / 4] >> (8 * (i % 4)));
        status = gls_output_write(output, tail, sizeof tail);
    }
done:
    for (int i = 0; i < PIECES; i++) free(pieces[i].packed);
    return status;
}

/* Writes an image file. The file gets its name only when it is complete; with a group, together with the other files of
 * the group. */
static gls_status write_file(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                             size_t n_volumes, gls_type type, source *s)
{
    gls_output output;
    gls_status status = gls_image_name_check(path);
    if (!status)
        status = gls_mif_is_name(path) ? gls_mif_make_header(path, grid, s->what, n_volumes, type, &s->header)
                                       : gls_nifti_make_header(path, grid, s->what, n_volumes, type, &s->header);
    if (!status) status = gls_output_create(path, overwrite, &output);
    if (status) return status;
    output.group = group;
    uint64_t total = s->header.bytes + (uint64_t)gls_grid_voxels(grid) * n_volumes * s->value;
    if (gls_case_ends(path, ".gz"))
        status = write_gzip(&output, total, fill, s);
    else
        status = write_plain(&output, s, total);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

gls_status gls_image_write(const char *path, const gls_image *image, gls_image_type type)
{
    return gls_image_write_grouped(path, true, NULL, image, type);
}

gls_status gls_image_write_grouped(const char *path, bool overwrite, gls_output_group *group, const gls_image *image,
                                   gls_image_type type)
{
    static const gls_type types[] = {
        [GLS_IMAGE_FLOAT32] = GLS_TYPE_FLOAT32, [GLS_IMAGE_INT16] = GLS_TYPE_INT16, [GLS_IMAGE_UINT8] = GLS_TYPE_UINT8};
    GLS_REQUIRE(path && image && image->data && image->n_volumes >= 1);
    GLS_REQUIRE(type == GLS_IMAGE_FLOAT32 || type == GLS_IMAGE_INT16 || type == GLS_IMAGE_UINT8);
    source s = {.values = image->data, .type = type, .value = gls_type_size(types[type])};
    return write_file(path, overwrite, group, &image->grid, image->n_volumes, types[type], &s);
}

gls_status gls_image_write_values(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                                  const char *what, size_t n_volumes, gls_type type, const void *data)
{
    GLS_REQUIRE(path && grid && data && n_volumes >= 1);
    GLS_REQUIRE(type == GLS_TYPE_INT32 || type == GLS_TYPE_UINT32 || type == GLS_TYPE_FLOAT32 ||
                type == GLS_TYPE_FLOAT64 || type == GLS_TYPE_UINT8);
    source s = {.raw = data, .value = gls_type_size(type), .what = what};
    return write_file(path, overwrite, group, grid, n_volumes, type, &s);
}

bool gls_image_is_along_voxels(const char *path)
{
    static const char words[] = "glslines " GLS_ALONG_VOXELS;
    char header[2048]; /* NIfTI's description, and MIF's comments, stand before this */
    gls_stream *stream = NULL;
    size_t got = 0;
    if (gls_stream_open(path, &stream) != GLS_OK) return false;
    const bool read = gls_stream_read(stream, header, sizeof header, &got) == GLS_OK;
    gls_stream_close(stream);
    return read && memmem(header, got, words, sizeof words - 1);
}

/* The bytes of a file, for copy_bytes(). */
typedef struct bytes {
    const unsigned char *data;
} bytes;

/* A pack_fill for data that lie in memory as the file has them. */
static void copy_bytes(void *user, uint64_t first, size_t n, void *buffer)
{
    memcpy(buffer, ((const bytes *)user)->data + first, n);
}

gls_status gls_image_write_bytes(const char *path, bool overwrite, gls_output_group *group, const void *data, size_t n)
{
    gls_output output;
    bytes b = {data};
    gls_status status = gls_output_create(path, overwrite, &output);
    if (status) return status;
    output.group = group;
    status = gls_case_ends(path, ".gz") ? write_gzip(&output, n, copy_bytes, &b) : gls_output_write(&output, data, n);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}
