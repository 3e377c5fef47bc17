/* Fixel directories as other programs and `glslines fixels` write them, and the fixels that streamlines follow. */
#include "tools/fixel_folder.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/density.h>

#include "image/grid.h"
#include "streamlines/builder.h"
#include "tractogram/tck_header.h"
#include "tracts/visits.h"
#include "tracts/visits_list.h"
#include "util/status.h"
#include "util/text.h"

/* Most fixels: images are read as float32, which holds whole numbers up to this. */
#define MAX_FIXELS 16777216.0

/* --- Reading. */

/* Finds DIRECTORY/NAME.nii, or with another suffix of images. From malloc. */
static gls_status find_file(const char *directory, const char *name, char **path)
{
    static const char *const suffix[] = {".nii", ".mif", ".nii.gz", ".mif.gz"};
    for (size_t k = 0; k < sizeof suffix / sizeof *suffix; k++) {
        if (gls_asprintf(path, "%s/%s%s", directory, name, suffix[k]) < 0) return gls_no_memory();
        if (access(*path, F_OK) == 0) return GLS_OK;
        free(*path);
        *path = NULL;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: has no %s.nii or %s.mif: give a fixel directory", directory, name, name);
}

/* Reads an image of n x columns x 1 values. Where its first or second axis runs against that of the list, as MRtrix3
 * may write it, the values are turned. *value: column after column, from malloc. */
static gls_status read_list(const char *path, size_t n, size_t columns, float **value)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &image);
    if (status) return status;
    const int32_t *dim = image->grid.dim;
    if ((size_t)dim[0] != n || (size_t)dim[1] != columns || dim[2] != 1 || image->n_volumes != 1)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has %d x %d x %d values, but the directory has %zu fixels: give a file with %zu %s",
                          path, dim[0], dim[1], dim[2], n, columns, columns > 1 ? "numbers for each" : "for each");
    *value = status ? NULL : malloc((n * columns + 1) * sizeof **value);
    if (!status && !*value) status = gls_no_memory();
    const bool turn[2] = {image->grid.affine[0][0]<0, columns> 1 && image->grid.affine[1][1] < 0};
    for (size_t c = 0; c < columns && !status; c++)
        for (size_t i = 0; i < n; i++)
            (*value)[c * n + i] = image->data[(turn[1] ? columns - 1 - c : c) * n + (turn[0] ? n - 1 - i : i)];
    gls_image_destroy(image);
    return status;
}

/* Takes the index of an image of two volumes: number and first fixel of each voxel. */
static gls_status take_index(gls_fixel_folder *f, const gls_image *index, const char *path)
{
    const size_t n = gls_grid_voxels(&index->grid);
    double end = 0;
    if (index->n_volumes != 2)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu volumes, but the index of fixels has 2", path, index->n_volumes);
    f->grid = index->grid;
    f->first = malloc(n * sizeof *f->first);
    f->count = malloc(n * sizeof *f->count);
    if (!f->first || !f->count) return gls_no_memory();
    for (size_t v = 0; v < n; v++) {
        const double count = (double)index->data[v], first = (double)index->data[n + v];
        if (!(count >= 0 && first >= 0) || count != floor(count) || first != floor(first))
            return gls_fail(GLS_ERR_INPUT, "%s: holds a value that is no whole number from 0 on", path);
        if (count > 0 && first + count > end) end = first + count;
        if (end > MAX_FIXELS) return gls_fail(GLS_ERR_UNSUPPORTED, "%s: more than %.0f fixels", path, MAX_FIXELS);
        f->count[v] = (uint32_t)count;
        f->first[v] = count > 0 ? (uint32_t)first : 0;
    }
    f->n = (size_t)end;
    return f->n > 0 ? GLS_OK : gls_fail(GLS_ERR_EMPTY, "%s: has no fixels", path);
}

gls_status gls_fixel_folder_read(gls_fixel_folder *f, gls_tract_run *run, const char *directory)
{
    char *index_path = NULL, *path = NULL;
    gls_image *index = NULL;
    float *value = NULL;
    gls_status status = find_file(directory, "index", &index_path);
    if (!status) status = find_file(directory, "directions", &path);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(index_path, path));
    if (!status) status = gls_image_read(index_path, GLS_IMAGE_4D, &index);
    if (!status) status = take_index(f, index, index_path);
    if (!status) status = read_list(path, f->n, 3, &value);
    f->direction = status ? NULL : malloc(f->n * sizeof *f->direction);
    if (!status && !f->direction) status = gls_no_memory();
    for (size_t i = 0; i < f->n && !status; i++)
        for (size_t a = 0; a < 3; a++) f->direction[i][a] = value[a * f->n + i];
    free(value);
    gls_image_destroy(index);
    free(index_path);
    free(path);
    return status;
}

gls_status gls_fixel_folder_values(const gls_fixel_folder *folder, const char *path, float **value)
{
    return read_list(path, folder->n, 1, value);
}

uint32_t gls_fixel_folder_nearest(const gls_fixel_folder *f, uint64_t voxel, const double d[3], double least)
{
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double best = 0;
    uint32_t nearest = UINT32_MAX;
    for (uint32_t k = 0; k < f->count[voxel] && length > 0; k++) {
        const float *to = f->direction[f->first[voxel] + k];
        const double dot = fabs(d[0] * (double)to[0] + d[1] * (double)to[1] + d[2] * (double)to[2]) / length;
        if (!(dot > best)) continue;
        best = dot;
        nearest = f->first[voxel] + k;
    }
    return best > least ? nearest : UINT32_MAX;
}

void gls_fixel_folder_finish(gls_fixel_folder *f)
{
    free(f->first);
    free(f->count);
    free(f->direction);
    *f = (gls_fixel_folder){.n = 0};
}

gls_status gls_fixel_walk(const gls_tractogram_info *info, const char *path, const gls_grid *grid, double step,
                          double share, gls_density_options *options)
{
    const double *side = grid->voxel_size, least = fmin(side[0], fmin(side[1], side[2]));
    *options = gls_density_options_default();
    options->mapping = GLS_DENSITY_PRECISE;
    options->upsample = 1;
    if (share == 0) return GLS_OK;
    const double known = step > 0 ? step : gls_tck_step(info, 0);
    if (known <= 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: does not state the step size of its streamlines, on which the mapping depends: give "
                        "--step-size",
                        path);
    const double ratio = ceil((double)(float)known / (least * share));
    options->upsample = ratio >= 1 && ratio < 1e6 ? (uint32_t)ratio : 1;
    return GLS_OK;
}

/* --- Streamlines. */

/* State of the counter, and of the filter. */
typedef struct follower {
    const gls_fixel_folder *folder;
    gls_density_options walk;
    double least; /* cosine of the largest angle */
    gls_visit_grid grid;
    gls_visits *visits; /* one for each thread */
    int n_threads;
    uint32_t *count; /* counter: streamlines of each fixel */
    /* the filter */
    const float *value;
    const char *name;
    float *out; /* values of the points of a block */
    size_t capacity, n_list;
    gls_column *list; /* columns that are passed on with a block */
    gls_sink next;
} follower;

static void discard(void *user)
{
    follower *f = user;
    gls_sink_abort(&f->next);
    for (int i = 0; i < f->n_threads && f->visits; i++) gls_visits_finish(&f->visits[i]);
    free(f->visits);
    free(f->out);
    free(f->list);
    free(f);
}

static gls_status finish(void *user)
{
    follower *f = user;
    const gls_status status = gls_sink_finish(&f->next);
    discard(f);
    return status;
}

/* Whether memory ran out on a thread. */
static gls_status check(const follower *f)
{
    for (int i = 0; i < f->n_threads; i++)
        if (f->visits[i].failed) return gls_no_memory();
    return GLS_OK;
}

/* Counts the fixels of one streamline, each once a voxel. */
static void count_line(void *user, int thread, const gls_streamlines *s, size_t i)
{
    follower *f = user;
    gls_visits *v = &f->visits[thread];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    if (n == 0) return;
    gls_visits_find(v, &f->grid, &f->walk, s->point + s->offset[i], n);
    for (size_t k = 0; k < v->n; k++) {
        const uint32_t fixel = gls_fixel_folder_nearest(f->folder, v->voxel[k], v->direction[k], f->least);
        if (fixel == UINT32_MAX) continue;
#pragma omp atomic
        f->count[fixel]++;
    }
}

static gls_status count_lines(void *user, const gls_streamlines *in)
{
    follower *f = user;
    gls_lines_parallel(in, 64, f->n_threads, count_line, f);
    return check(f);
}

/* Fills in the values of the points of one streamline. */
static void value_line(void *user, int thread, const gls_streamlines *s, size_t i)
{
    follower *f = user;
    gls_visits *v = &f->visits[thread];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    if (n == 0) return;
    gls_visits_find(v, &f->grid, &f->walk, s->point + s->offset[i], n);
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        uint64_t voxel = UINT64_MAX;
        size_t at = 0;
        f->out[p - s->offset[0]] = 0;
        if (!gls_visit_voxel(&f->grid, s->point[p], &voxel)) continue;
        while (at < v->n && v->voxel[at] != voxel) at++;
        const uint32_t fixel =
            at < v->n ? gls_fixel_folder_nearest(f->folder, voxel, v->direction[at], f->least) : UINT32_MAX;
        if (fixel != UINT32_MAX) f->out[p - s->offset[0]] = f->value[fixel];
    }
}

/* Passes on a block with the column of values in front of the others. */
static gls_status add_values(void *user, const gls_streamlines *in)
{
    follower *f = user;
    const size_t points = (size_t)(in->offset[in->n] - in->offset[0]);
    if (points > f->capacity || !f->out) {
        free(f->out);
        f->capacity = points;
        f->out = malloc((points + 1) * sizeof *f->out);
        if (!f->out) return gls_no_memory();
    }
    if (in->n_dpv + 1 > f->n_list) {
        free(f->list);
        f->n_list = in->n_dpv + 1;
        f->list = malloc(f->n_list * sizeof *f->list);
        if (!f->list) return gls_no_memory();
    }
    gls_lines_parallel(in, 64, f->n_threads, value_line, f);
    const gls_status status = check(f);
    if (status) return status;
    gls_streamlines out = *in;
    f->list[0] = (gls_column){f->name, GLS_TYPE_FLOAT32, 1, f->out};
    out.n_dpv = 1;
    /* an older column of the same name is replaced */
    for (size_t k = 0; k < in->n_dpv; k++)
        if (strcmp(in->dpv[k].name, f->name) != 0) f->list[out.n_dpv++] = in->dpv[k];
    out.dpv = f->list;
    return gls_sink_append(&f->next, &out);
}

/* Makes the state. NULL: out of memory. */
static follower *create(const gls_fixel_folder *folder, const gls_density_options *walk, double angle)
{
    follower *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->folder = folder;
    f->walk = *walk;
    f->least = cos(angle * acos(-1) / 180);
    gls_visit_grid_init(&f->grid, &folder->grid);
    f->n_threads = omp_get_max_threads();
    f->visits = calloc((size_t)f->n_threads, sizeof *f->visits);
    if (!f->visits) {
        free(f);
        return NULL;
    }
    for (int i = 0; i < f->n_threads; i++) f->visits[i].directed = f->visits[i].aligned = true;
    return f;
}

gls_status gls_fixel_counter(const gls_fixel_folder *folder, const gls_density_options *walk, double angle,
                             uint32_t *count, gls_sink *sink)
{
    follower *f = create(folder, walk, angle);
    if (!f) return gls_no_memory();
    f->count = count;
    *sink = (gls_sink){count_lines, finish, discard, f};
    return GLS_OK;
}

gls_status gls_fixel_filter(const gls_fixel_folder *folder, const float *value, double angle, const char *name,
                            const gls_sink *next, gls_sink *filter)
{
    gls_density_options walk = gls_density_options_default();
    walk.mapping = GLS_DENSITY_PRECISE;
    walk.upsample = 1;
    follower *f = create(folder, &walk, angle);
    if (!f) return gls_no_memory();
    f->value = value;
    f->name = name;
    f->next = *next;
    *filter = (gls_sink){add_values, finish, discard, f};
    return GLS_OK;
}
