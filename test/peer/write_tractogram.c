/* Writes what test/peer/readers.py has chosen, through the library's writers.
 *
 *   peer_write_tractogram lines SPEC OUT [half]   SPEC: dimensions, affine (12), number of lines; per line its number
 * of points and voxel coordinates peer_write_tractogram copy IN OUT TYPE        reads an image and writes it as
 * float32, int16 or uint8 */
#include <glslines/image.h>
#include <glslines/tractogram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lines {
    gls_grid grid;
    size_t n;
    uint64_t *offset;
    double (*voxel)[3];
} lines;

static bool read_spec(const char *path, lines *l)
{
    FILE *file = fopen(path, "r");
    int32_t dim[3];
    double affine[3][4];
    bool ok = file && fscanf(file, "%d %d %d", &dim[0], &dim[1], &dim[2]) == 3;
    for (int i = 0; i < 12 && ok; i++) ok = fscanf(file, "%lf", &affine[i / 4][i % 4]) == 1;
    ok = ok && gls_grid_init(&l->grid, dim, (const double(*)[4])affine) == GLS_OK && fscanf(file, "%zu", &l->n) == 1;
    l->offset = calloc(l->n + 1, sizeof *l->offset);
    for (size_t i = 0; i < l->n && ok; i++) {
        size_t points;
        ok = fscanf(file, "%zu", &points) == 1;
        l->offset[i + 1] = l->offset[i] + points;
        l->voxel = realloc(l->voxel, l->offset[i + 1] * sizeof *l->voxel);
        for (uint64_t p = l->offset[i]; p < l->offset[i + 1] && ok; p++)
            ok = fscanf(file, "%lf %lf %lf", &l->voxel[p][0], &l->voxel[p][1], &l->voxel[p][2]) == 3;
    }
    if (file) fclose(file);
    return ok;
}

/* Lines first .. last - 1 as one run; the seed of a line is its first point, the seed index 10 times its number. */
static gls_status append(gls_tractogram_writer *writer, const lines *l, size_t first, size_t last)
{
    size_t n = last - first, points = (size_t)(l->offset[last] - l->offset[first]);
    const double(*map)[4] = (const double(*)[4])l->grid.affine;
    uint64_t *offset = malloc((n + 1) * sizeof *offset);
    float(*point)[3] = malloc((points + 1) * sizeof *point), (*seed)[3] = malloc((n + 1) * sizeof *seed);
    uint32_t *seed_index = malloc((n + 1) * sizeof *seed_index);
    for (size_t i = 0; i <= n; i++) offset[i] = l->offset[first + i] - l->offset[first];
    for (size_t p = 0; p < points; p++) {
        const double *v = l->voxel[l->offset[first] + p];
        for (int r = 0; r < 3; r++)
            point[p][r] = (float)(map[r][0] * v[0] + map[r][1] * v[1] + map[r][2] * v[2] + map[r][3]);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(seed[i], point[offset[i]], sizeof seed[i]);
        seed_index[i] = (uint32_t)(10 * (first + i));
    }
    const gls_column column[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, seed},
                                 {GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, seed_index}};
    gls_streamlines s = {.n = n, .offset = offset, .point = (const float(*)[3])point, .n_dps = 2, .dps = column};
    gls_status status = gls_tractogram_writer_append(writer, &s);
    free(offset);
    free(point);
    free(seed);
    free(seed_index);
    return status;
}

static gls_status write_lines(const lines *l, const char *out, bool half)
{
    static const char *const header[] = {"method: test", "step_size: 0.5", NULL};
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    options.precision = half ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.overwrite = true;
    options.header_lines = header;
    gls_status status = gls_tractogram_format_parse(out, &format);
    if (status == GLS_OK) status = gls_tractogram_writer_create(out, format, &l->grid, &options, &writer);
    if (status != GLS_OK) return status;
    status = append(writer, l, 0, l->n / 3);
    if (status == GLS_OK) status = append(writer, l, l->n / 3, l->n);
    if (status == GLS_OK) return gls_tractogram_writer_finish(writer);
    gls_tractogram_writer_abort(writer);
    return status;
}

static gls_status copy_image(const char *in, const char *out, const char *type)
{
    gls_image *image;
    gls_status status = gls_image_read(in, GLS_IMAGE_ANY, &image);
    if (status != GLS_OK) return status;
    status = gls_image_write(out, image,
                             !strcmp(type, "int16")   ? GLS_IMAGE_INT16
                             : !strcmp(type, "uint8") ? GLS_IMAGE_UINT8
                                                      : GLS_IMAGE_FLOAT32);
    gls_image_destroy(image);
    return status;
}

int main(int argc, char **argv)
{
    gls_status status;
    if (argc >= 4 && !strcmp(argv[1], "lines")) {
        lines l = {0};
        if (!read_spec(argv[2], &l)) {
            fprintf(stderr, "%s: bad specification\n", argv[2]);
            return 2;
        }
        status = write_lines(&l, argv[3], argc > 4 && !strcmp(argv[4], "half"));
        free(l.offset);
        free(l.voxel);
    } else if (argc == 5 && !strcmp(argv[1], "copy")) {
        status = copy_image(argv[2], argv[3], argv[4]);
    } else {
        fprintf(stderr, "usage: %s lines SPEC OUT [half] | copy IN OUT TYPE\n", argv[0]);
        return 2;
    }
    if (status != GLS_OK) fprintf(stderr, "%s\n", gls_last_error());
    return status == GLS_OK ? 0 : 1;
}
