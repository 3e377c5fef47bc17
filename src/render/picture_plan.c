/* Reads and checks the options of a picture. */
#include "render/picture_plan.h"
#include "render/canvas.h"
#include "render/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/numbers.h"
#include "util/option.h"
#include "util/status.h"

/* Names of views, for messages. */
#define VIEWS "superior, inferior, anterior, posterior, left, right, axial, coronal, sagittal, oblique, slab"

/* Words for slices across x, y and z. */
static const char *const axes[3] = {"sagittal", "coronal", "axial"};

/* Limits of --fit, mm, and of the pixels of a picture: within them the numbers of the foot and of line segments fit
 * their integer types. */
#define MIN_FIT_MM 1e-3
#define MAX_FIT_MM 1e5
#define MAX_PIXELS (UINT64_C(1) << 29)

/* Takes the next word of a list; *text moves behind its separator, or becomes NULL after the last word. Returns false
 * for a word that is empty or too long. */
static bool next_word(const char **text, char separator, char *word, size_t size)
{
    const char *end = strchr(*text, separator);
    size_t n = end ? (size_t)(end - *text) : strlen(*text);
    if (n == 0 || n >= size) return false;
    memcpy(word, *text, n);
    word[n] = 0;
    *text = end ? end + 1 : NULL;
    return true;
}

/* Whether all numbers are finite. */
static bool are_finite(const gls_numbers *numbers)
{
    for (int i = 0; i < numbers->n; i++)
        if (!isfinite(numbers->value[i])) return false;
    return true;
}

/* Reads exactly n numbers. */
static bool read_numbers(const char *text, char separator, double *numbers, int n)
{
    char word[64];
    for (int i = 0; i < n; i++)
        if (!text || !next_word(&text, separator, word, sizeof word) || !gls_parse_double(word, &numbers[i]))
            return false;
    return text == NULL;
}

/* Default slabs for many streamlines, which would hide each other in views from outside. */
#define CROWD_SLABS "axial:4,coronal:4,sagittal:4"

/* Slabs of one thickness across an axis. */
typedef struct slabs {
    /* axis: axis of the world, 0 to 2; n: number of slabs */
    int axis, n;
    double mm;
} slabs;

/* Reads slabs: AXIS:N[:MM]. */
static gls_status read_slabs(const char *text, slabs *slab)
{
    const char *rest = text;
    char word[64];
    double n = 0, mm = 0;
    slab->axis = -1;
    bool good = next_word(&rest, ':', word, sizeof word) && rest;
    for (int a = 0; a < 3 && good; a++)
        if (strcmp(word, axes[a]) == 0) slab->axis = a;
    good = good && slab->axis >= 0 && next_word(&rest, ':', word, sizeof word) && gls_parse_double(word, &n);
    if (good && rest) good = gls_parse_double(rest, &mm) && mm > 0;
    if (!good || !(n >= 1 && n <= 64) || n != floor(n))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--slab: '%s' is not AXIS:N or AXIS:N:MM with axial, coronal or sagittal, N from 1 to 64, and MM above 0",
            text);
    slab->n = (int)n;
    slab->mm = mm;
    return GLS_OK;
}

/* Name of the side from which slices across an axis of the world are seen. */
static const char *slice_stand(const gls_render_options *o, int axis)
{
    bool radiological = o->convention == GLS_RENDER_RADIOLOGICAL;
    if (axis == 0) return "left";
    if (axis == 1) return radiological ? "anterior" : "posterior";
    return radiological ? "inferior" : "superior";
}

/* Adds a view to the plan; NULL: there are GLS_MAX_TILES already. */
static gls_tile *add_tile(gls_render_plan *p, const char *name)
{
    if (p->n_tiles == GLS_MAX_TILES) return NULL;
    gls_tile *tile = &p->tile[p->n_tiles++];
    *tile = (gls_tile){.slab_axis = -1};
    snprintf(tile->name, sizeof tile->name, "%s", name);
    return tile;
}

/* Adds the slabs of a list of AXIS:N[:MM]. */
static gls_status add_slabs(gls_render_plan *p, const char *list)
{
    char word[128];
    slabs slab = {.axis = -1};
    gls_status status = GLS_OK;
    for (const char *rest = list; rest && !status;) {
        bool good = next_word(&rest, ',', word, sizeof word);
        status = read_slabs(good ? word : list, &slab);
        for (int i = 0; i < slab.n && !status; i++) {
            gls_tile *tile = add_tile(p, axes[slab.axis]);
            if (!tile)
                return gls_fail(GLS_ERR_ARGUMENT, "--slab: a picture has at most %d views, slabs included: name fewer",
                                GLS_MAX_TILES);
            tile->slab_axis = slab.axis;
            tile->slab = i;
            tile->n_slabs = slab.n;
            tile->slab_mm = slab.mm;
            gls_camera_stand(&tile->camera, slice_stand(p->options, slab.axis));
            p->n_slabs++;
        }
    }
    return status;
}

/* Sets the axes of a camera: the viewer is in front, `azimuth` degrees towards the right side of the body and
 * `elevation` degrees up. */
static void turn_camera(gls_camera *camera, double azimuth, double elevation)
{
    const double degree = 3.14159265358979323846 / 180;
    double ca = cos(azimuth * degree), sa = sin(azimuth * degree), ce = cos(elevation * degree),
           se = sin(elevation * degree);
    const double right[3] = {-ca, sa, 0}, up[3] = {-sa * se, -ca * se, ce}, toward[3] = {sa * ce, ca * ce, se};
    memcpy(camera->right, right, sizeof right);
    memcpy(camera->up, up, sizeof up);
    memcpy(camera->toward, toward, sizeof toward);
}

/* Adds a view by its name: slabs, one side of the head, a slice of one axis, or an oblique view. */
static gls_status add_view(gls_render_plan *p, const char *name)
{
    const gls_render_options *o = p->options;
    if (strcmp(name, "slab") == 0) return add_slabs(p, o->slab ? o->slab : gls_render_options_default().slab);
    gls_tile *tile = add_tile(p, name);
    if (!tile)
        return gls_fail(GLS_ERR_ARGUMENT, "--views: a picture has at most %d views, slabs included: name fewer",
                        GLS_MAX_TILES);
    if (gls_camera_stand(&tile->camera, name)) return GLS_OK;
    for (int axis = 0; axis < 3; axis++)
        if (strcmp(name, axes[axis]) == 0) {
            gls_camera_stand(&tile->camera, slice_stand(o, axis));
            return GLS_OK;
        }
    if (strcmp(name, "oblique") != 0) return gls_fail(GLS_ERR_ARGUMENT, "--views: '%s' is none of %s", name, VIEWS);
    turn_camera(&tile->camera, p->azimuth, p->elevation);
    return GLS_OK;
}

/* Whether a crowd of streamlines may bring slabs in place of the default views. */
static bool may_slice(const gls_render_options *o)
{
    return !(o->views || o->tile || o->columns > 0 || o->turn > 0 || o->outline);
}

/* Reads the views, the size of a view and the number of columns, and checks the size of the whole picture. */
static gls_status read_views(gls_render_plan *p)
{
    const gls_render_options *o = p->options;
    /* default views: three sides for streamlines, one where the picture turns or shows ODFs */
    const char *views = o->views  ? o->views
                        : o->turn ? "posterior"
                        : o->odf  ? "axial"
                                  : "superior,posterior,left",
               *rest = views;
    char word[24];
    const char *oblique = o->oblique ? o->oblique : gls_render_options_default().oblique;
    double angles[2], size[2];
    gls_status status = GLS_OK;
    if (!read_numbers(oblique, ',', angles, 2) || !(fabs(angles[0]) <= 360) || !(fabs(angles[1]) <= 90))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--oblique: '%s' is not AZIMUTH,ELEVATION: degrees from -360 to 360, and from -90 to 90",
                        oblique);
    p->azimuth = angles[0];
    p->elevation = angles[1];
    /* check --slab also where no slab is drawn, or where a crowd of streamlines brings slabs once the files are read */
    if (o->slab) status = add_slabs(p, o->slab);
    p->n_tiles = 0;
    p->n_slabs = 0;
    while (rest && !status)
        status = next_word(&rest, ',', word, sizeof word)
                     ? add_view(p, word)
                     : gls_fail(GLS_ERR_ARGUMENT, "--views: '%s' must be views separated by commas, out of %s", views,
                                VIEWS);
    if (status) return status;
    /* default views are smaller with slabs, four in a row, and larger for ODFs in their default view */
    bool slabs = p->n_slabs > 0;
    if (o->turn > 0 && p->n_tiles != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "--turn: needs a single view, but there are %zu: name one with --views",
                        p->n_tiles);
    if (o->turn > 0 && slabs)
        return gls_fail(GLS_ERR_ARGUMENT, "--turn: a slab cannot be turned: name another view with --views");
    const char *text = o->tile                           ? o->tile
                       : slabs                           ? "400x400"
                       : o->odf && !o->views && !o->turn ? "1200x1200"
                                                         : "800x800";
    /* the size of a view, then the limits of the whole picture */
    if (!read_numbers(text, 'x', size, 2) || !(size[0] >= 64 && size[0] <= 8192 && size[1] >= 64 && size[1] <= 8192) ||
        size[0] != floor(size[0]) || size[1] != floor(size[1]))
        return gls_fail(GLS_ERR_ARGUMENT, "--tile: '%s' is not WIDTHxHEIGHT in pixels, each from 64 to 8192", text);
    p->width = (uint32_t)size[0];
    p->height = (uint32_t)size[1];
    p->columns = o->columns > 0 ? (uint32_t)o->columns : slabs ? 4 : (uint32_t)p->n_tiles;
    if (p->columns > p->n_tiles) p->columns = (uint32_t)p->n_tiles;
    uint64_t rows = (p->n_tiles + p->columns - 1) / p->columns;
    if (rows * p->height > 65535 || (uint64_t)p->columns * p->width > 65535)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--tile: %zu views of %s make a picture of more than 65535 pixels a side: give smaller or fewer views",
            p->n_tiles, text);
    if (rows * p->height * p->columns * p->width > MAX_PIXELS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--tile: %zu views of %s make a picture of more than %llu pixels: give smaller or fewer views",
                        p->n_tiles, text, (unsigned long long)MAX_PIXELS);
    return GLS_OK;
}

/* Parses "#rrggbb", black, white or grey into red, green << 8, blue << 16. Returns false for another text. */
static bool parse_colour(const char *text, uint32_t *colour)
{
    static const struct {
        const char *name;
        uint32_t rgb;
    } names[] = {{"black", 0}, {"white", 0xffffff}, {"grey", 0x808080}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) {
            *colour = names[i].rgb;
            return true;
        }
    if (text[0] != '#' || strspn(text + 1, "0123456789abcdefABCDEF") != 6 || text[7]) return false;
    const long rgb = strtol(text + 1, NULL, 16);
    *colour = gls_colour_rgb((int)(rgb >> 16), (int)(rgb >> 8 & 255), (int)(rgb & 255));
    return true;
}

/* Reads --color. n: number of tractograms in the picture. */
static gls_status read_colouring(gls_render_plan *p, size_t n)
{
    /* words of --color; named: a name follows the word, which ends in a colon */
    static const struct {
        const char *word;
        gls_colouring colouring;
        bool named;
    } words[] = {{"direction", GLS_COLOUR_DIRECTION, false},
                 {"end", GLS_COLOUR_END, false},
                 {"length", GLS_COLOUR_LENGTH, false},
                 {"bundle", GLS_COLOUR_BUNDLE, false},
                 {"groups", GLS_COLOUR_GROUPS, false},
                 {"group:", GLS_COLOUR_GROUP, true},
                 {"dps:", GLS_COLOUR_DPS, true},
                 {"dpv:", GLS_COLOUR_DPV, true},
                 {"map:", GLS_COLOUR_MAP, true}};
    const char *text = p->options->color ? p->options->color : n > 1 ? "bundle" : "direction";
    /* the text must equal a word without a colon, or be a word with a colon and a name behind it */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (words[i].named ? strncmp(text, words[i].word, length) != 0 || !text[length]
                           : strcmp(text, words[i].word) != 0)
            continue;
        p->colouring = words[i].colouring;
        p->name = words[i].named ? text + length : NULL;
        return GLS_OK;
    }
    /* any other text must be a colour, for all streamlines */
    p->colouring = GLS_COLOUR_PLAIN;
    if (parse_colour(text, &p->colour)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--color: '%s' is none of direction, end, length, bundle, groups, group:NAME, dps:NAME, dpv:NAME, "
                    "map:FILE, black, white, grey, #rrggbb",
                    text);
}

/* Reads a line of the file of --colors: a name, which may have blanks, and a colour. false: it is none. */
static bool parse_named(char *line, gls_named_colour *named)
{
    static const char blanks[] = " \t\r";
    line += strspn(line, blanks);
    size_t n = strlen(line);
    while (n > 0 && strchr(blanks, line[n - 1])) n--;
    line[n] = 0;
    /* the last word is the colour */
    char *colour = line + n;
    while (colour > line && !strchr(blanks, colour[-1])) colour--;
    for (n = (size_t)(colour - line); n > 0 && strchr(blanks, line[n - 1]);) n--;
    snprintf(named->name, sizeof named->name, "%.*s", (int)n, line);
    return n > 0 && parse_colour(colour, &named->colour);
}

/* Reads the file of --colors: on each line a name and a colour. */
static gls_status read_named(gls_render_plan *p, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    gls_status status = gls_file_read_text(path, 1 << 20, &text, &n);
    if (status) return status;
    if (!(p->named = calloc(GLS_MAX_NAMED, sizeof *p->named)))
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    char *rest = text;
    /* lines are cut in place; blank lines count for the line number only */
    for (int line = 1; rest && !status; line++) {
        char *end = strchr(rest, '\n');
        if (end) *end = 0;
        gls_named_colour *named = &p->named[p->n_named];
        bool blank = rest[strspn(rest, " \t\r")] == 0;
        if (!blank && p->n_named == GLS_MAX_NAMED)
            status = gls_fail(GLS_ERR_INPUT, "%s: names more than %d colours", path, GLS_MAX_NAMED);
        else if (!blank && !parse_named(rest, named))
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: line %d is not NAME COLOUR: its last word has to be #rrggbb, black, white or grey",
                              path, line);
        p->n_named += !blank && !status;
        rest = end ? end + 1 : NULL;
    }
    free(text);
    return status;
}

/* Reads scale, slices, background, crop box, ranges and named colours. Rejects options that have no meaning together.
 */
static gls_status read_rest(gls_render_plan *p)
{
    const gls_render_options *o = p->options;
    /* --fit: a word or a length in mm */
    p->fit = GLS_FIT_AUTO;
    if (o->fit && strcmp(o->fit, "image") == 0)
        p->fit = GLS_FIT_IMAGE;
    else if (o->fit && strcmp(o->fit, "streamlines") == 0)
        p->fit = GLS_FIT_STREAMLINES;
    else if (o->fit && gls_parse_double(o->fit, &p->fit_mm) && p->fit_mm >= MIN_FIT_MM && p->fit_mm <= MAX_FIT_MM)
        p->fit = GLS_FIT_MM;
    else if (o->fit)
        return gls_fail(GLS_ERR_ARGUMENT, "--fit: '%s' must be image, streamlines or a number of mm from %g to %g",
                        o->fit, MIN_FIT_MM, MAX_FIT_MM);
    if (p->fit == GLS_FIT_IMAGE && !o->image && !o->image_data)
        return gls_fail(GLS_ERR_ARGUMENT, "--fit image: has no effect without an image: give --image");
    /* --planes: one word or three positions, mm in the world */
    const char *planes = o->planes ? o->planes : "centre", *background = o->background ? o->background : "black";
    p->planes = strcmp(planes, "none") == 0 ? GLS_PLANES_NONE : GLS_PLANES_CENTRE;
    if (strcmp(planes, "none") != 0 && strcmp(planes, "centre") != 0) {
        p->planes = GLS_PLANES_AT;
        if (!read_numbers(planes, ',', p->planes_at, 3))
            return gls_fail(GLS_ERR_ARGUMENT, "--planes: '%s' must be X,Y,Z in mm, centre or none", planes);
        if (!o->image && !o->image_data && !o->odf)
            return gls_fail(GLS_ERR_ARGUMENT, "--planes: has no effect without slices: give --image or --odf");
    }
    if (o->outline && p->n_slabs == (int)p->n_tiles)
        return gls_fail(GLS_ERR_ARGUMENT, "--outline: has no effect on slabs: name other --views");
    bool transparent = strcmp(background, "transparent") == 0;
    if (!transparent && !parse_colour(background, &p->background))
        return gls_fail(GLS_ERR_ARGUMENT, "--background: '%s' is none of black, white, grey, #rrggbb, transparent",
                        background);
    /* ink is light on dark backgrounds; 3, 6 and 1 are tenths by which red, green and blue add to the brightness that
     * the eye sees */
    uint32_t b = p->background, light = 3 * (b & 255) + 6 * (b >> 8 & 255) + (b >> 16 & 255);
    p->ink = 0xff000000u | (transparent || light < 1275 ? 0xf0f0f0u : 0x101010u);
    if (!transparent) p->background |= 0xff000000u;
    if (o->crop.n > 0)
        for (int a = 0; a < 3; a++)
            if (o->crop.n != 6 || !are_finite(&o->crop) || !(o->crop.value[2 * a] < o->crop.value[2 * a + 1]))
                return gls_fail(GLS_ERR_ARGUMENT,
                                "--crop: needs X0,X1,Y0,Y1,Z0,Z1 in mm, with X0 below X1, Y0 below Y1 and Z0 below Z1");
    const gls_numbers *ranges[] = {&o->range, &o->image_range};
    for (int i = 0; i < 2; i++)
        if (ranges[i]->n > 0 &&
            (ranges[i]->n != 2 || !are_finite(ranges[i]) || !(ranges[i]->value[0] < ranges[i]->value[1])))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs two numbers LOW,HIGH with LOW below HIGH",
                            i ? "image-range" : "range");
    if (o->frames && o->turn == 0) return gls_fail(GLS_ERR_ARGUMENT, "--frames: needs --turn N, a turn in N frames");
    if (o->palette && (o->turn > 0 || transparent))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--palette: has no effect on a turn or a transparent background: leave it out");
    if (!(o->min_length <= o->max_length))
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: is above --max-length, so that no streamline would be drawn");
    return o->colors ? read_named(p, o->colors) : GLS_OK;
}

gls_status gls_render_plan_make(const gls_render_options *options, size_t n, gls_render_plan *plan)
{
    *plan = (gls_render_plan){.options = options};
    gls_status status = read_views(plan);
    if (!status) status = read_colouring(plan, n);
    if (!status) status = read_rest(plan);
    if (status) gls_render_plan_finish(plan);
    return status;
}

gls_status gls_render_plan_slice(gls_render_plan *plan, bool *sliced)
{
    const gls_render_options *o = plan->options;
    *sliced = may_slice(o);
    if (!*sliced) return GLS_OK;
    const bool chosen = o->slab && strcmp(o->slab, gls_render_options_default().slab) != 0;
    plan->n_tiles = 0;
    plan->n_slabs = 0;
    plan->width = plan->height = 400;
    gls_status status = add_slabs(plan, chosen ? o->slab : CROWD_SLABS);
    plan->columns = plan->n_tiles < 4 ? (uint32_t)plan->n_tiles : 4;
    return status;
}

void gls_render_plan_finish(gls_render_plan *plan)
{
    free(plan->named);
    plan->named = NULL;
}

gls_render_options gls_render_options_default(void)
{
    return (gls_render_options){
#define ROW GLS_ROW_DEFAULT
#include "render/render.def"
#undef ROW
        .size = sizeof(gls_render_options),
        .read = gls_tractogram_read_options_default(),
    };
}
