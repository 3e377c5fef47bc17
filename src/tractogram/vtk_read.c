/* Reads legacy VTK files of polylines, ASCII and BINARY, of versions up to 5. One pass over the file finds its arrays;
 * then each array is read from its own position. */
#include "tractogram/file_formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/status.h"

/* Numbers of double precision that are converted at a time. */
#define BLOCK 1024

/* State of the reader. */
typedef struct vtk {
    /* position in the text of the file */
    gls_vtk_scan scan;
    gls_vtk_array points, lines; /* lines: before version 5, for each line its number of points and their indices */
    /* from version 5 on: the end of each line among the indices, and the indices */
    gls_vtk_array offsets, connectivity;
    gls_vtk_array *dps, *dpv;             /* one for each column */
    uint64_t n_points, n_lines, n_others; /* n_others: cells that are not lines */
    /* next_point: index that the next line must begin with; last_offset: end of the line before */
    uint64_t next_point, last_offset;
    double sign[3]; /* factors to RAS+ */
} vtk;

/* Finds the sense of the axes: the title says SPACE=RAS or SPACE=LPS, else the caller's option does. LPS coordinates
 * have x and y negated. */
static gls_status find_axes(gls_tractogram_reader *r, const char *title)
{
    vtk *t = r->state;
    bool ras = r->options.vtk_space == GLS_VTK_SPACE_RAS, lps = r->options.vtk_space == GLS_VTK_SPACE_LPS;
    if (gls_case_find(title, "SPACE=RAS")) ras = true, lps = false;
    if (gls_case_find(title, "SPACE=LPS")) ras = false, lps = true;
    if (!ras && !lps)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: does not say its axes (SPACE=RAS or SPACE=LPS in line 2): give --vtk-space ras for a file "
                        "of MRtrix3, lps for one of DIPY",
                        r->path);
    t->sign[0] = t->sign[1] = lps ? -1 : 1;
    t->sign[2] = 1;
    return GLS_OK;
}

/* Notes where the section POINTS lies. */
static gls_status find_points(gls_tractogram_reader *r)
{
    vtk *t = r->state;
    gls_status status = gls_vtk_scan_count(&t->scan, &t->n_points);
    if (!status && t->points.known) status = gls_reader_damaged(r, "it has two sections POINTS");
    if (!status) status = gls_vtk_scan_array(&t->scan, NULL, 3 * t->n_points, &t->points);
    r->info.position_type = t->points.type;
    if (!status && t->points.type != GLS_TYPE_FLOAT32 && t->points.type != GLS_TYPE_FLOAT64)
        status = gls_fail(GLS_ERR_INPUT, "%s: its points are neither float nor double", r->path);
    return status;
}

/* Finds the cells of one kind. Only lines are kept. */
static gls_status find_cells(gls_tractogram_reader *r, bool are_lines)
{
    vtk *t = r->state;
    gls_vtk_array first, second = {0};
    uint64_t n, size;
    gls_status status = gls_vtk_scan_count(&t->scan, &n);
    if (!status) status = gls_vtk_scan_count(&t->scan, &size);
    if (status) return status;
    /* before version 5 numbers of points and indices are mixed in one array of ints; from then on they are two
     * arrays */
    if (r->info.version < 50) {
        status = gls_vtk_scan_array(&t->scan, "int", size, &first);
    } else {
        status = gls_vtk_scan_word(&t->scan, "OFFSETS");
        if (!status) status = gls_vtk_scan_array(&t->scan, NULL, n, &first);
        if (!status) status = gls_vtk_scan_word(&t->scan, "CONNECTIVITY");
        if (!status) status = gls_vtk_scan_array(&t->scan, NULL, size, &second);
        /* there is one offset more than cells */
        n -= n > 0;
    }
    if (!are_lines) t->n_others += n;
    if (status || !are_lines) return status;
    if (t->lines.known || t->offsets.known) return gls_reader_damaged(r, "it has two sections LINES");
    if (second.known) {
        t->offsets = first;
        t->connectivity = second;
    } else {
        t->lines = first;
    }
    t->n_lines = n;
    return GLS_OK;
}

/* Adds an array as a column, if it has one row for each point or each line; otherwise warns. GLS_VTK_NOBODY: only skips
 * it. */
static gls_status add_data(gls_tractogram_reader *r, gls_vtk_owner owner, const char *name, const char *type,
                           uint64_t components, uint64_t rows)
{
    vtk *t = r->state;
    gls_vtk_array array;
    if (components < 1 || components > INT32_MAX || rows > UINT64_MAX / 8 / components)
        return gls_reader_damaged(r, "the size of an array is 0 or too large");
    gls_status status = gls_vtk_scan_array(&t->scan, type, components * rows, &array);
    if (status || owner == GLS_VTK_NOBODY) return status;
    bool per_point = owner == GLS_VTK_POINT;
    if (rows != (per_point ? t->n_points : t->n_lines)) {
        gls_reader_warn(r, "%s: %s does not have a value for each of its %s and is left out", r->path, name,
                        per_point ? "points" : "lines");
        return GLS_OK;
    }
    gls_reader_columns *columns = per_point ? &r->dpv : &r->dps;
    gls_vtk_array **arrays = per_point ? &t->dpv : &t->dps, *grown = realloc(*arrays, (columns->n + 1) * sizeof *grown);
    if (!grown) return gls_reader_no_memory(r);
    *arrays = grown;
    grown[columns->n] = array;
    return gls_reader_add_column(r, columns, name, array.type, (uint32_t)components);
}

/* Reads SCALARS, VECTORS and other attributes, except FIELD. */
static gls_status find_attribute(gls_tractogram_reader *r, const char *kind, gls_vtk_owner owner, uint64_t rows)
{
    static const struct {
        const char *kind;
        uint64_t components;
    } kinds[] = {{"VECTORS", 3},  {"NORMALS", 3},    {"TENSORS", 9},
                 {"TENSORS6", 6}, {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}};
    vtk *t = r->state;
    char name[GLS_VTK_WORD], type[GLS_VTK_WORD] = "", word[GLS_VTK_WORD] = "";
    uint64_t components = 0;
    gls_status status = gls_vtk_scan_name(&t->scan, name);
    if (status) return status;
    /* SCALARS name type [components], then a line LOOKUP_TABLE name */
    if (!gls_case_compare(kind, "SCALARS")) {
        status = gls_vtk_scan_token(&t->scan, type);
        if (!status) status = gls_vtk_scan_token(&t->scan, word);
        components = strtoull(word, NULL, 10);
        if (!status && components > 0) status = gls_vtk_scan_token(&t->scan, word);
        if (components == 0) components = 1;
        if (!status && !gls_case_compare(word, "LOOKUP_TABLE"))
            status = gls_vtk_scan_token(&t->scan, word);
        else if (!status)
            status = gls_reader_damaged(r, "its SCALARS have no LOOKUP_TABLE");
    } else if (!gls_case_compare(kind, "COLOR_SCALARS") || !gls_case_compare(kind, "LOOKUP_TABLE")) {
        /* colours: bytes in binary files, floats from 0 to 1 in text; a table of colours has 4 values a row and is
         * skipped */
        status = gls_vtk_scan_count(&t->scan, &components);
        strcpy(type, t->scan.binary ? "unsigned_char" : "float");
        if (!gls_case_compare(kind, "LOOKUP_TABLE"))
            return status ? status : add_data(r, GLS_VTK_NOBODY, name, type, 4, components);
    } else if (!gls_case_compare(kind, "TEXTURE_COORDINATES")) {
        status = gls_vtk_scan_count(&t->scan, &components);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!gls_case_compare(kind, kinds[i].kind)) components = kinds[i].components;
    if (!status && components == 0) return gls_fail(GLS_ERR_INPUT, "%s: has an unknown section %.40s", r->path, kind);
    return !status ? add_data(r, owner, name, *type ? type : NULL, components, rows) : status;
}

/* Notes the arrays of a section FIELD, which belong to points or to lines. Paragraphs METADATA are skipped. */
static gls_status find_field(gls_tractogram_reader *r, gls_vtk_owner owner)
{
    vtk *t = r->state;
    char name[GLS_VTK_WORD];
    uint64_t n = 0, components, rows;
    gls_status status = gls_vtk_scan_name(&t->scan, name);
    if (!status) status = gls_vtk_scan_count(&t->scan, &n);
    for (uint64_t i = 0; i < n && !status; i++) {
        status = gls_vtk_scan_name(&t->scan, name);
        while (!status && !gls_case_compare(name, "METADATA")) {
            gls_vtk_scan_paragraph(&t->scan);
            status = gls_vtk_scan_name(&t->scan, name);
        }
        if (!status) status = gls_vtk_scan_count(&t->scan, &components);
        if (!status) status = gls_vtk_scan_count(&t->scan, &rows);
        if (!status) status = add_data(r, owner, name, NULL, components, rows);
    }
    return status;
}

/* Reads all sections up to the end of the file. */
static gls_status find_sections(gls_tractogram_reader *r)
{
    vtk *t = r->state;
    char word[GLS_VTK_WORD];
    gls_vtk_owner owner = GLS_VTK_NOBODY;
    uint64_t rows = 0;
    gls_status status = GLS_OK;
    while (!status && gls_vtk_scan_more(&t->scan)) {
        status = gls_vtk_scan_token(&t->scan, word);
        if (status) break;
        /* keywords of a section in the order of the format; attributes belong to the last POINT_DATA or CELL_DATA */
        if (!gls_case_compare(word, "DATASET")) {
            status = gls_vtk_scan_token(&t->scan, word);
            if (!status && gls_case_compare(word, "POLYDATA") != 0)
                status = gls_fail(GLS_ERR_INPUT, "%s: holds %.40s; only POLYDATA is known", r->path, word);
        } else if (!gls_case_compare(word, "POINTS")) {
            status = find_points(r);
        } else if (!gls_case_compare(word, "LINES")) {
            status = find_cells(r, true);
        } else if (!gls_case_compare(word, "VERTICES") || !gls_case_compare(word, "POLYGONS") ||
                   !gls_case_compare(word, "TRIANGLE_STRIPS")) {
            status = find_cells(r, false);
        } else if (!gls_case_compare(word, "POINT_DATA") || !gls_case_compare(word, "CELL_DATA")) {
            owner = !gls_case_compare(word, "POINT_DATA") ? GLS_VTK_POINT : GLS_VTK_CELL;
            status = gls_vtk_scan_count(&t->scan, &rows);
        } else if (!gls_case_compare(word, "METADATA")) {
            gls_vtk_scan_paragraph(&t->scan);
        } else if (!gls_case_compare(word, "FIELD")) {
            status = find_field(r, owner);
        } else {
            status = find_attribute(r, word, owner, rows);
        }
    }
    return status;
}

/* After the pass over the file: requires points and lines, and opens all arrays. */
static gls_status start(gls_tractogram_reader *r)
{
    vtk *t = r->state;
    gls_status status = GLS_OK;
    if (t->n_lines > 0 && !t->points.known) return gls_reader_damaged(r, "it has lines but no points");
    if (t->n_lines == 0 && t->n_points + t->n_others > 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is no tractogram but a mesh: it has %" PRIu64 " points and %" PRIu64
                        " polygons or the like, and no lines",
                        r->path, t->n_points, t->n_others);
    /* version 5 has offsets and connectivity, versions before have lines; arrays that the file lacks are not known */
    gls_vtk_array *arrays[] = {&t->points, &t->lines, &t->offsets, &t->connectivity};
    for (size_t i = 0; i < 4 && !status; i++)
        if (arrays[i]->known) status = gls_vtk_array_open(&t->scan, arrays[i]);
    for (size_t k = 0; k < r->dps.n && !status; k++) status = gls_vtk_array_open(&t->scan, &t->dps[k]);
    for (size_t k = 0; k < r->dpv.n && !status; k++) status = gls_vtk_array_open(&t->scan, &t->dpv[k]);
    /* version 5: the first offset is read here, since each streamline lies between two of them */
    if (!status && t->offsets.known && t->n_lines > 0) {
        status = gls_vtk_array_index(&t->scan, &t->offsets, &t->last_offset);
        if (!status && t->last_offset != 0) status = gls_reader_damaged(r, "its first offset is not 0");
    }
    return status;
}

/* Reads the three lines of the head, then finds all sections. */
static gls_status open_vtk(gls_tractogram_reader *r)
{
    char line[GLS_VTK_LINE], version[32] = "";
    int major = 0, minor = 0;
    vtk *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    gls_status status = gls_vtk_scan_begin(&t->scan, r);
    if (!status) status = gls_vtk_scan_line(&t->scan, line);
    if (status) return status;
    /* "# vtk DataFile Version 3.0": major and minor number */
    if (sscanf(line, "# vtk DataFile Version %31s", version) != 1 || sscanf(version, "%1d.%1d", &major, &minor) != 2)
        return gls_reader_damaged(r, "its first line names no version");
    r->info.version = 10 * major + minor;
    /* the second line is a title of any text; MRtrix3 and others state the axes there */
    status = gls_vtk_scan_line(&t->scan, line);
    if (!status) status = gls_reader_add_header(r, "title", line);
    if (!status) status = find_axes(r, line);
    if (!status) status = gls_vtk_scan_line(&t->scan, line);
    if (status) return status;
    t->scan.binary = !gls_case_compare_n(line, "BINARY", 6);
    if (!t->scan.binary && gls_case_compare_n(line, "ASCII", 5) != 0)
        return gls_reader_damaged(r, "it says neither ASCII nor BINARY");
    /* the cursor has run to the end; the arrays are read by cursors of their own */
    status = find_sections(r);
    gls_cursor_finish(&t->scan.cursor);
    if (!status) status = start(r);
    r->info.counts_streamlines = r->info.counts_points = true;
    r->info.n_streamlines = t->n_lines;
    r->info.n_points = t->n_points;
    return status;
}

/* Reads n points with their values, as RAS+ mm. */
static gls_status read_points(gls_tractogram_reader *r, uint64_t first, uint64_t n)
{
    vtk *t = r->state;
    double block[BLOCK];
    const bool wide = t->points.type == GLS_TYPE_FLOAT64;
    float *to = r->point[first];
    gls_status status = GLS_OK;
    /* float32 is read straight to where it stays; float64 is converted block by block */
    if (!wide) status = gls_vtk_array_read(&t->scan, &t->points, 3 * n, to);
    for (uint64_t done = 0; wide && done < 3 * n && !status;) {
        size_t m = 3 * n - done < BLOCK ? (size_t)(3 * n - done) : BLOCK;
        status = gls_vtk_array_read(&t->scan, &t->points, m, block);
        for (size_t i = 0; i < m && !status; i++) to[done + i] = (float)block[i];
        done += m;
    }
    for (uint64_t i = 0; i < 3 * n && !status; i++)
        if (t->sign[i % 3] < 0) to[i] = -to[i];
    for (size_t k = 0; k < r->dpv.n && !status; k++) {
        const gls_column *c = &r->dpv.filled[k];
        status = gls_vtk_array_read(&t->scan, &t->dpv[k], n * c->components,
                                    (char *)c->data + first * gls_column_row_bytes(c));
    }
    return status;
}

/* Reads the point indices of a line. Points of a line must be consecutive in the file; points between lines are
 * skipped. */
static gls_status read_indices(gls_tractogram_reader *r, uint64_t n, uint64_t points)
{
    vtk *t = r->state;
    gls_vtk_array *from = t->offsets.known ? &t->connectivity : &t->lines;
    gls_status status = GLS_OK;
    for (uint64_t i = 0; i < n && !status; i++) {
        uint64_t index = 0;
        status = gls_vtk_array_index(&t->scan, from, &index);
        while (!status && i == 0 && t->next_point < index && index < t->n_points) {
            status = gls_reader_reserve(r, points + 1);
            if (!status) status = read_points(r, points, 1); /* points of no line */
            t->next_point++;
        }
        if (!status && (index != t->next_point || index >= t->n_points))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: the points of a line are not stored one after the other, which is not supported",
                            r->path);
        t->next_point++;
    }
    return status;
}

/* Reads streamline i of the block. The indices of its points must follow each other. */
static gls_status read_line(gls_tractogram_reader *r, size_t i, uint64_t *points)
{
    vtk *t = r->state;
    uint64_t n = 0;
    gls_status status = gls_vtk_array_index(&t->scan, t->offsets.known ? &t->offsets : &t->lines, &n);
    if (status) return status;
    /* an offset is the number of points up to the end of this line, counted from the first line */
    if (t->offsets.known) {
        uint64_t end = n;
        if (end < t->last_offset) return gls_reader_damaged(r, "an offset is smaller than the one before");
        n = end - t->last_offset;
        t->last_offset = end;
    }
    if (n > t->n_points) return gls_reader_damaged(r, "a line has more points than there are");
    status = read_indices(r, n, *points);
    if (!status) status = gls_reader_reserve(r, *points + n);
    if (!status && n > 0) status = read_points(r, *points, n);
    *points += n;
    r->line_offset[i + 1] = *points;
    return status;
}

/* Reads the next block of streamlines; *n: their number, 0 at the end. */
static gls_status next_vtk(gls_tractogram_reader *r, size_t *n)
{
    vtk *t = r->state;
    uint64_t points = 0;
    size_t i = 0;
    gls_status status = GLS_OK;
    for (; i < r->max_lines && points < r->max_points && r->lines_read + i < t->n_lines && !status; i++)
        status = read_line(r, i, &points);
    for (size_t k = 0; k < r->dps.n && i > 0 && !status; k++) {
        const gls_column *c = &r->dps.filled[k];
        status = gls_vtk_array_read(&t->scan, &t->dps[k], i * c->components, (void *)c->data);
    }
    *n = i;
    r->done = t->n_lines > 0 ? (double)(r->lines_read + i) / (double)t->n_lines : 1;
    return status;
}

/* close() of the driver; the state may be incomplete. */
static void close_vtk(gls_tractogram_reader *r)
{
    vtk *t = r->state;
    if (!t) return;
    gls_cursor_finish(&t->scan.cursor);
    gls_cursor_finish(&t->points.cursor);
    gls_cursor_finish(&t->lines.cursor);
    gls_cursor_finish(&t->offsets.cursor);
    gls_cursor_finish(&t->connectivity.cursor);
    for (size_t k = 0; k < r->dps.n; k++) gls_cursor_finish(&t->dps[k].cursor);
    for (size_t k = 0; k < r->dpv.n; k++) gls_cursor_finish(&t->dpv[k].cursor);
    free(t->dps);
    free(t->dpv);
    free(t);
}

const gls_reader_driver gls_vtk_reader = {open_vtk, next_vtk, close_vtk};
