/* Reads chains of transforms from texts, each of which names a file and what the file does not say. */
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "transform/itk_files.h"
#include "transform/transform.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

static void finish_source(gls_transform_source *s)
{
    free(s->path);
    free(s->moving);
    free(s->fixed);
    *s = (gls_transform_source){.path = NULL};
}

/* Takes one part of a text behind the name of the file. */
static gls_status take_part(gls_transform_source *s, const char *text, const char *part)
{
    if (strcmp(part, "inverse") == 0) {
        s->inverse = !s->inverse;
    } else if (strncmp(part, "from=", 5) == 0 && strlen(part) < sizeof s->format + 5) {
        strcpy(s->format, part + 5);
    } else if (strncmp(part, "moving=", 7) == 0 && !s->moving) {
        s->moving = strdup(part + 7);
        if (!s->moving) return gls_no_memory();
    } else if (strncmp(part, "fixed=", 6) == 0 && !s->fixed) {
        s->fixed = strdup(part + 6);
        if (!s->fixed) return gls_no_memory();
    } else {
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "%s: '%s' is not known: behind the name of a transform may stand ,inverse and ,from=FORMAT (%s) "
            "and ,moving=IMAGE and ,fixed=IMAGE",
            text, part, GLS_TRANSFORM_FORMATS);
    }
    return GLS_OK;
}

/* Parses FILE[,inverse][,from=FORMAT][,moving=IMAGE][,fixed=IMAGE]. */
static gls_status parse(const char *text, gls_transform_source *s)
{
    *s = (gls_transform_source){.path = NULL};
    char *copy = strdup(text), *rest = copy;
    const char *name = copy ? gls_names_next(&rest, ',') : NULL;
    gls_status status = name ? GLS_OK : gls_no_memory();
    if (!status && !*name) status = gls_fail(GLS_ERR_ARGUMENT, "transform '%s': names no file", text);
    if (!status && !(s->path = strdup(name))) status = gls_no_memory();
    for (const char *part; !status && (part = gls_names_next(&rest, ','));) status = take_part(s, text, part);
    free(copy);
    return status;
}

size_t gls_transform_files(const char *text, char *paths[3])
{
    gls_transform_source s;
    size_t n = 0;
    if (parse(text, &s) != GLS_OK) {
        finish_source(&s);
        return 0;
    }
    char *const all[] = {s.path, s.moving, s.fixed};
    for (int i = 0; i < 3; i++)
        if (all[i]) paths[n++] = all[i];
    return n;
}

/* Sets what follows from the map or the field of a step that was read. */
static gls_status complete(const char *path, gls_transform_step *step)
{
    if (step->field) {
        gls_grid_inverse(&step->field->grid, step->to_voxel);
        return GLS_OK;
    }
    const double det = gls_affine_det((const double(*)[4])step->map);
    if (!gls_affine_is_usable((const double(*)[4])step->map))
        return gls_fail(GLS_ERR_INPUT, "%s: its matrix has no inverse, or has numbers beyond 1e+15", path);
    if (det < 0) gls_log(GLS_LOG_WARNING, "%s: its matrix mirrors: its determinant is %g", path, det);
    gls_affine_invert((const double(*)[4])step->map, step->back);
    return GLS_OK;
}

/* Turns steps from .. n - 1 into their inverse, in the opposite order. */
static void turn_round(gls_transform *t, size_t from)
{
    for (size_t i = from; i < t->n; i++) {
        gls_transform_step *s = &t->step[i];
        double map[3][4];
        memcpy(map, s->map, sizeof map);
        memcpy(s->map, s->back, sizeof map);
        memcpy(s->back, map, sizeof map);
        s->inverted = s->field && !s->inverted;
    }
    for (size_t a = from, b = t->n; a + 1 < b; a++) {
        const gls_transform_step first = t->step[a];
        t->step[a] = t->step[--b];
        t->step[b] = first;
    }
}

/* Appends the steps of one text, the one at `index`. */
static gls_status read_text(const char *text, size_t index, gls_transform *t)
{
    gls_transform_source s;
    const size_t first = t->n;
    gls_status status = parse(text, &s);
    const char *suffix = status ? "" : s.path + gls_image_stem(s.path);
    const bool is_image = *suffix && gls_case_compare(suffix, ".gz") != 0;
    if (!status)
        status = is_image                                                         ? gls_transform_read_field(&s, t)
                 : gls_case_ends(s.path, ".h5") || gls_case_ends(s.path, ".hdf5") ? gls_itk_read_composite(&s, t)
                                                                                  : gls_transform_read_affine(&s, t);
    for (size_t i = first; i < t->n && !status; i++) {
        t->step[i].text = index;
        status = complete(s.path, &t->step[i]);
    }
    if (!status && s.inverse) turn_round(t, first);
    finish_source(&s);
    return status;
}

gls_status gls_transform_read(const char *const *text, size_t n, gls_transform *transform)
{
    gls_status status = GLS_OK;
    *transform = (gls_transform){.n = 0};
    for (size_t i = 0; i < n && !status; i++) status = read_text(text[i], i, transform);
    if (status) gls_transform_finish(transform);
    return status;
}
