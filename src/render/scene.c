/* Collects the streamlines of a picture in memory, colours them, and places cameras. */
#include "image/grid.h"
#include "render/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/canvas.h"
#include "render/planes.h"
#include "tracts/line_geometry.h"
#include "util/maths.h"
#include "util/status.h"

/* Views by the position of the viewer; right x up = toward, in world axes (right, anterior, superior). */
static const struct {
    const char *name;
    double right[3], up[3], toward[3];
} stands[] = {
    {"superior", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},   {"inferior", {-1, 0, 0}, {0, 1, 0}, {0, 0, -1}},
    {"posterior", {1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {"anterior", {-1, 0, 0}, {0, 0, 1}, {0, 1, 0}},
    {"left", {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}},     {"right", {0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
};

bool gls_camera_stand(gls_camera *camera, const char *name)
{
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++) {
        if (strcmp(name, stands[i].name) != 0) continue;
        memcpy(camera->right, stands[i].right, sizeof camera->right);
        memcpy(camera->up, stands[i].up, sizeof camera->up);
        memcpy(camera->toward, stands[i].toward, sizeof camera->toward);
        return true;
    }
    return false;
}

void gls_box_of_grid(const gls_grid *grid, gls_box *box)
{
    gls_grid_extent(grid, box->low, box->high);
}

/* Allocates memory for more lines and points. values: each point has a number, too. */
static gls_status make_room(gls_scene *scene, size_t lines, size_t points, bool values)
{
    /* there is one offset more than streamlines; the memory doubles, so that many small blocks cause few copies */
    if (scene->n_lines + lines + 1 > scene->line_room || !scene->offset) {
        size_t room = 2 * (scene->n_lines + lines) + 64;
        uint64_t *offset = realloc(scene->offset, room * sizeof *offset);
        if (!offset) goto fail;
        if (!scene->offset) offset[0] = 0;
        scene->offset = offset;
        scene->line_room = room;
    }
    /* store each new address at once: after a failure the caller frees the arrays of the scene */
    if (scene->n_points + points > scene->point_room || !scene->point) {
        size_t room = scene->n_points + points + scene->n_points / 2 + 1024;
        void *point = realloc(scene->point, room * sizeof *scene->point);
        if (point) scene->point = point;
        uint32_t *colour = realloc(scene->colour, room * sizeof *colour);
        if (colour) scene->colour = colour;
        float *value = values ? realloc(scene->value, room * sizeof *value) : NULL;
        if (value) scene->value = value;
        if (!point || !colour || (values && !value)) goto fail;
        scene->point_room = room;
    }
    return GLS_OK;

fail:
    return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu points of streamlines to draw", scene->n_points + points);
}

/* Direction of a streamline at point i, not of unit length: from point i - 1 to point i + 1; at an end, the direction
 * of the first or the last step. */
static void direction_at(const float (*p)[3], size_t n, size_t i, double v[3])
{
    size_t a = i > 0 ? i - 1 : 0, b = i + 1 < n ? i + 1 : n - 1;
    for (int k = 0; k < 3; k++) v[k] = (double)p[b][k] - p[a][k];
}

/* The colour of a whole streamline. With GLS_COLOUR_END: that of the direction from its first to its last point. Else:
 * dark grey if `group` is not NULL and the streamline is no member of it; paint->colour in all other cases. */
static uint32_t plain_colour(const gls_paint *paint, const gls_column *group, size_t line, const float (*p)[3],
                             size_t n)
{
    if (paint->colouring == GLS_COLOUR_END) {
        double v[3];
        for (int k = 0; k < 3; k++) v[k] = (double)p[n - 1][k] - p[0][k];
        return gls_colour_of_direction(v);
    }
    if (group && !gls_column_value(group, line)) return gls_colour_rgb(70, 70, 70);
    return paint->colour;
}

/* Colour of the first group of which a streamline is a member; dark grey if there is none. */
static uint32_t colour_of_groups(const gls_paint *paint, const gls_streamlines *s, size_t line)
{
    for (size_t i = 0; i < paint->n_groups; i++) {
        const gls_column *group = gls_column_find(s->group, s->n_groups, paint->group[i].name);
        if (group && gls_column_value(group, line)) return paint->group[i].colour;
    }
    return gls_colour_rgb(70, 70, 70);
}

/* The number that gives a point its colour: with GLS_COLOUR_MAP the value of the image at the point; else the value of
 * `column`, with GLS_COLOUR_DPS for the streamline, otherwise for the point. */
static float value_of(const gls_paint *paint, const gls_column *column, size_t line, uint64_t point, const float p[3])
{
    if (paint->colouring == GLS_COLOUR_MAP) return gls_sampler_at(paint->sampler, p);
    return (float)gls_column_value(column, paint->colouring == GLS_COLOUR_DPS ? line : point);
}

/* Adds the columns that have one number in each row to scene->column, until the scene has `most` columns in all. */
static void choose_columns(gls_scene *scene, const gls_column *columns, size_t n, gls_column_of of, size_t most)
{
    for (size_t i = 0; i < n && scene->n_columns < most; i++) {
        if (columns[i].components != 1) continue;
        gls_line_column *to = &scene->column[scene->n_columns++];
        snprintf(to->name, sizeof to->name, "%s", columns[i].name);
        to->of = of;
    }
}

/* Chooses the columns that the scene keeps, from its first streamlines. */
static gls_status create_columns(gls_scene *scene, const gls_streamlines *s)
{
    if (scene->column || scene->n_lines > 0 || s->n_dps + s->n_groups + s->n_dpv == 0) return GLS_OK;
    if (!(scene->column = calloc(GLS_MAX_COLUMNS + GLS_MAX_POINT_COLUMNS, sizeof *scene->column)))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the columns of streamlines");
    choose_columns(scene, s->dps, s->n_dps, GLS_OF_LINES, GLS_MAX_COLUMNS);
    choose_columns(scene, s->group, s->n_groups, GLS_OF_GROUP, GLS_MAX_COLUMNS);
    choose_columns(scene, s->dpv, s->n_dpv, GLS_OF_POINTS, scene->n_columns + GLS_MAX_POINT_COLUMNS);
    return GLS_OK;
}

/* The column or group of these streamlines with the name and the kind of rows of `column`; NULL: there is none with one
 * number a row. */
static const gls_column *find_column(const gls_streamlines *s, const gls_line_column *column)
{
    const gls_column *found = column->of == GLS_OF_GROUP    ? gls_column_find(s->group, s->n_groups, column->name)
                              : column->of == GLS_OF_POINTS ? gls_column_find(s->dpv, s->n_dpv, column->name)
                                                            : gls_column_find(s->dps, s->n_dps, column->name);
    return found && found->components == 1 ? found : NULL;
}

/* Appends the values of a block's streamlines to the columns of the scene; NAN where the block lacks the column. */
static gls_status keep_columns(gls_scene *scene, const gls_streamlines *s)
{
    gls_status status = create_columns(scene, s);
    for (size_t i = 0; i < scene->n_columns && !status; i++) {
        gls_line_column *to = &scene->column[i];
        const gls_column *from = find_column(s, to);
        const bool of_points = to->of == GLS_OF_POINTS;
        const size_t rows = of_points ? s->offset[s->n] : s->n;
        size_t at = of_points ? scene->n_points : scene->n_lines;
        float *value = realloc(to->value, (at + rows + 1) * sizeof *value);
        if (!value) return gls_fail(GLS_ERR_MEMORY, "out of memory for the columns of streamlines");
        to->value = value;
        for (size_t row = 0; row < rows; row++)
            if (of_points || s->offset[row + 1] > s->offset[row])
                value[at++] = from ? (float)gls_column_value(from, row) : NAN;
    }
    return status;
}

/* append() of the sink: keeps points, colours and numbers, and the columns of the streamlines. */
static gls_status append(void *user, const gls_streamlines *s)
{
    const gls_painting *to = user;
    gls_scene *scene = to->scene;
    const gls_paint *paint = to->paint;
    /* values: the colour comes from a number of each point, which is kept until the range of all numbers is known */
    bool values = paint->colouring == GLS_COLOUR_LENGTH || paint->colouring == GLS_COLOUR_DPS ||
                  paint->colouring == GLS_COLOUR_DPV || paint->colouring == GLS_COLOUR_MAP;
    gls_status status = make_room(scene, s->n, s->offset[s->n], values);
    if (!status) status = keep_columns(scene, s);
    if (status) return status;
    /* find the column by its name in each block, because its position in the list may differ between blocks */
    const gls_column *column = NULL;
    if (paint->colouring == GLS_COLOUR_DPS) column = gls_column_find(s->dps, s->n_dps, paint->name);
    if (paint->colouring == GLS_COLOUR_DPV) column = gls_column_find(s->dpv, s->n_dpv, paint->name);
    if (paint->colouring == GLS_COLOUR_GROUP) column = gls_column_find(s->group, s->n_groups, paint->name);
    for (size_t line = 0; line < s->n; line++) {
        size_t n = s->offset[line + 1] - s->offset[line];
        const float(*p)[3] = s->point + s->offset[line];
        if (n == 0) continue;
        /* the colour of the whole streamline, unless its points are coloured by their directions */
        uint32_t one = paint->colouring == GLS_COLOUR_DIRECTION ? 0 : plain_colour(paint, column, line, p, n);
        if (paint->colouring == GLS_COLOUR_GROUPS) one = colour_of_groups(paint, s, line);
        float length = paint->colouring == GLS_COLOUR_LENGTH ? (float)gls_line_length(p, n) : 0;
        for (size_t i = 0; i < n; i++) {
            size_t at = scene->n_points + i;
            double v[3];
            if (paint->colouring == GLS_COLOUR_DIRECTION) direction_at(p, n, i, v);
            scene->colour[at] = paint->colouring == GLS_COLOUR_DIRECTION ? gls_colour_of_direction(v) : one;
            if (values)
                scene->value[at] = paint->colouring == GLS_COLOUR_LENGTH
                                       ? length
                                       : value_of(paint, column, line, s->offset[line] + i, p[i]);
        }
        memcpy(scene->point + scene->n_points, p, n * sizeof *p);
        scene->n_points += n;
        scene->offset[++scene->n_lines] = scene->n_points;
    }
    return GLS_OK;
}

gls_sink gls_scene_sink(gls_painting *painting)
{
    return (gls_sink){append, NULL, NULL, painting};
}

void gls_scene_finish(gls_scene *scene)
{
    free(scene->offset);
    free(scene->point);
    free(scene->colour);
    free(scene->value);
    for (size_t i = 0; i < scene->n_columns; i++) free(scene->column[i].value);
    free(scene->column);
    *scene = (gls_scene){.n_lines = 0};
}
