/* Reads a tractogram and puts what was understood into raw arrays, for test/peer/tractograms.py.
 *
 *   peer_read_tractogram IN FOLDER [ras|lps] [FILTER VALUE]...
 *
 * FILTER: points N, step MM, compress MM, length MM, every N, write FILE (written, too). Files in FOLDER:
 * offset.uint64, point.float32, and dps.NAME.COMPONENTS.TYPE, dpv..., group...; header.txt. */
#include <glslines/filters.h>
#include <glslines/log.h>
#include <glslines/tractogram.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dump {
    const char *folder;
    uint64_t points;
} dump;

static void append_file(const dump *d, const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    FILE *file = fopen(path, "ab");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

static void append_columns(const dump *d, const char *kind, const gls_column *c, size_t n, uint64_t rows)
{
    char name[2048];
    for (size_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "%s.%s.%u.%s", kind, c[k].name, c[k].components, gls_type_name(c[k].type));
        append_file(d, name, c[k].data, (size_t)rows * gls_column_row_bytes(&c[k]));
    }
}

static gls_status append(void *user, const gls_streamlines *s)
{
    dump *d = user;
    for (size_t i = 1; i <= s->n; i++) {
        uint64_t end = d->points + s->offset[i];
        append_file(d, "offset.uint64", &end, sizeof end);
    }
    d->points += s->offset[s->n];
    append_file(d, "point.float32", s->point, (size_t)s->offset[s->n] * sizeof *s->point);
    append_columns(d, "dps", s->dps, s->n_dps, s->n);
    append_columns(d, "dpv", s->dpv, s->n_dpv, s->offset[s->n]);
    append_columns(d, "group", s->group, s->n_groups, s->n);
    return GLS_OK;
}

static gls_status add_filter(const char *name, double value, gls_sink *sink)
{
    gls_sink next = *sink;
    if (!strcmp(name, "points")) return gls_filter_points_create((uint32_t)value, GLS_INTERPOLATE_LINEAR, &next, sink);
    if (!strcmp(name, "step")) return gls_filter_step_create(value, GLS_INTERPOLATE_LINEAR, &next, sink);
    if (!strcmp(name, "compress")) return gls_filter_compress_create(value, 10, &next, sink);
    if (!strcmp(name, "length")) return gls_filter_length_create(value, INFINITY, NULL, &next, sink);
    if (!strcmp(name, "every")) return gls_filter_every_create(0, (uint64_t)value, UINT64_MAX, NULL, &next, sink);
    fprintf(stderr, "unknown filter %s\n", name);
    exit(2);
}

/* Writes the streamlines that reach the sink to a file, too. */
static gls_status add_writer(const char *path, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_tractogram_format format;
    gls_tractogram_writer *writer = NULL;
    gls_tractogram_options options = gls_tractogram_options_default();
    options.overwrite = true;
    options.precision = info->position_type == GLS_TYPE_FLOAT16 ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.dpg = info->dpg;
    options.n_dpg = info->n_dpg;
    gls_status status = gls_tractogram_format_parse(path, &format);
    if (status == GLS_OK) status = gls_tractogram_writer_create(path, format, &info->grid, &options, &writer);
    if (status != GLS_OK) return status;
    gls_sink both[2] = {*sink, gls_tractogram_writer_sink(writer)};
    return gls_sink_tee(both, 2, sink);
}

static void print_log(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level == GLS_LOG_WARNING) printf("warning: %s\n", line);
}

static void print_info(const dump *d, const gls_tractogram_info *info)
{
    char line[65536], kind[256];
    for (size_t i = 0; i < info->n_header; i++) {
        int n = snprintf(line, sizeof line, "%s=%s\n", info->header[i].key, info->header[i].value);
        append_file(d, "header.txt", line, (size_t)n);
    }
    append_file(d, "affine.float64", info->grid.affine, info->has_grid ? sizeof info->grid.affine : 0);
    for (size_t i = 0; i < info->n_dpg; i++) {
        snprintf(kind, sizeof kind, "dpg-%s", info->dpg[i].group);
        append_columns(d, kind, &info->dpg[i].column, 1, 1);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s IN FOLDER [ras|lps] [FILTER VALUE]...\n", argv[0]);
        return 2;
    }
    dump d = {.folder = argv[2]};
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {.append = append, .user = &d};
    int at = 3;
    const uint64_t zero = 0;
    gls_log_set(print_log, NULL, GLS_LOG_WARNING);
    if (argc % 2 == 0) options.vtk_space = strcmp(argv[at++], "lps") == 0 ? GLS_VTK_SPACE_LPS : GLS_VTK_SPACE_RAS;
    gls_status status = gls_tractogram_reader_open(argv[1], &options, &reader);
    for (; status == GLS_OK && at < argc; at += 2)
        status = strcmp(argv[at], "write") == 0 ? add_writer(argv[at + 1], gls_tractogram_reader_info(reader), &sink)
                                                : add_filter(argv[at], atof(argv[at + 1]), &sink);
    if (status == GLS_OK) {
        append_file(&d, "offset.uint64", &zero, sizeof zero);
        append_file(&d, "point.float32", &zero, 0);
        print_info(&d, gls_tractogram_reader_info(reader));
        status = gls_tractogram_pump(reader, &sink, NULL, NULL);
    }
    if (status == GLS_OK) status = gls_sink_finish(&sink);
    if (status != GLS_OK) printf("error: %s\n", gls_last_error());
    gls_tractogram_reader_close(reader);
    gls_sink_abort(&sink);
    return status == GLS_OK ? 0 : 1;
}
