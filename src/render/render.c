/* Renders pictures to files. */
#include <glslines/render.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/run.h"
#include "record/run_params.h"
#include "render/canvas.h"
#include "render/drawing.h"
#include "render/png.h"
#include "render/studio.h"
#include "util/option.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* The options; only their names and choices are of use here. */
static const gls_option rows[] = {
#define ROW(group_, type, field, name_, letter_, metavar_, unit_, range_, default_, default_text_, choices_, ...) \
    {.name = name_, .kind = GLS_KIND_##type, .offset = offsetof(gls_render_options, field), .choices = choices_},
#include "render/render.def"
#undef ROW
    {.name = NULL},
};

/* Checks numbers and enumerators that the command line has limited; programs may pass any. */
static gls_status check_numbers(const gls_render_options *o)
{
    GLS_REQUIRE(o->size == sizeof *o);
    GLS_REQUIRE(o->radius >= 0.01 && o->radius <= 5);
    GLS_REQUIRE(o->opacity >= 0.01 && o->opacity <= 1);
    GLS_REQUIRE(o->occlusion >= 0 && o->occlusion <= 1);
    GLS_REQUIRE(o->max_streamlines >= 1 && o->max_streamlines <= UINT32_MAX);
    GLS_REQUIRE(o->turn == 0 || (o->turn >= 8 && o->turn <= 360));
    GLS_REQUIRE(o->fps >= 1 && o->fps <= 60);
    GLS_REQUIRE(o->columns >= 0);
    GLS_REQUIRE(o->min_length >= 0 && o->max_length >= 0);
    return gls_options_check_values(rows, o);
}

/* Checks that the folder for frames exists, or makes it. *made: whether it was made. */
static gls_status check_folder(const char *path, bool *made)
{
    struct stat info;
    *made = false;
    if (stat(path, &info) == 0)
        return S_ISDIR(info.st_mode) ? GLS_OK
                                     : gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(ENOTDIR));
    *made = mkdir(path, 0777) == 0;
    return *made ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
}

/* Writes bytes of a PNG to its output. */
static gls_status take(void *user, const void *data, size_t bytes)
{
    return gls_output_write(user, data, bytes);
}

/* Draws frames first .. first + n - 1: one as a still picture, several as an animation. */
static gls_status draw_frames(gls_studio *s, uint32_t first, uint32_t n, gls_png *png, const gls_png_text *texts,
                              size_t n_texts)
{
    gls_canvas canvas;
    gls_status status = GLS_OK;
    for (uint32_t i = 0; i < n && !status; i++) {
        status = gls_studio_draw(s, first + i, &canvas);
        if (status) return status;
        if (n == 1)
            status = gls_png_still(png, texts, n_texts, canvas.rgba, s->plan.options->palette);
        else if (i == 0)
            status = gls_png_begin(png, texts, n_texts);
        if (n > 1 && !status) status = gls_png_frame(png, canvas.rgba);
        gls_canvas_finish(&canvas);
    }
    return status || n == 1 ? status : gls_png_end(png);
}

/* Writes frames as PNG with text entries about the picture. */
static gls_status write_picture(gls_studio *s, uint32_t first, uint32_t n, gls_png *png)
{
    char shown[24], total[24], scale[32], software[64];
    gls_text sources = {0};
    for (size_t i = 0; i < s->n_sources; i++) gls_text_printf(&sources, "%s%s", i ? "\n" : "", s->source[i].path);
    char *source = gls_text_take(&sources);
    snprintf(shown, sizeof shown, "%llu", (unsigned long long)s->result.shown);
    snprintf(total, sizeof total, "%llu", (unsigned long long)s->result.total);
    gls_snprintf(scale, sizeof scale, "%.6g", s->result.mm_per_pixel);
    snprintf(software, sizeof software, "glslines %s", gls_version());
    const gls_png_text texts[] = {
        {"Software", software},
        {"Description", "Streamlines of diffusion MRI tractography"},
        {"Source", source},
        {"glslines:shown", shown},
        {"glslines:total", total},
        {"glslines:mm_per_pixel", scale},
        {"glslines:convention",
         s->plan.options->convention == GLS_RENDER_RADIOLOGICAL ? "radiological" : "neurological"},
    };
    gls_status status = draw_frames(s, first, n, png, texts, sizeof texts / sizeof *texts);
    free(source);
    return status;
}

/* Writes frames first .. first + n - 1 to one file. */
static gls_status write_png(gls_studio *s, const char *path, uint32_t first, uint32_t n, gls_output_group *group)
{
    const gls_render_options *o = s->plan.options;
    gls_output output;
    gls_status status = gls_output_create(path, o->force, &output);
    if (status) return status;
    output.group = group;
    gls_png png = {.width = s->result.width,
                   .mm_per_pixel = s->result.mm_per_pixel,
                   .height = s->result.height,
                   .has_alpha = s->plan.background >> 24 == 0,
                   .frames = n,
                   .frames_per_second = o->fps,
                   .take = take,
                   .user = &output};
    status = write_picture(s, first, n, &png);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

/* Returns the file name of a frame, from malloc; NULL: out of memory. */
static char *name_frame(const char *folder, uint32_t frame)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%04u.png", folder, frame) >= 0) return path;
    gls_error_set("%s: out of memory", folder);
    return NULL;
}

/* Writes every frame of a turn as a file of its own; all appear together, or none. After a failure removes the folder
 * if it was made. */
static gls_status write_frames(gls_studio *s, const char *folder)
{
    gls_output_group group = {0};
    bool made;
    gls_status status = check_folder(folder, &made);
    for (uint32_t frame = 0; frame < s->plan.options->turn && !status; frame++) {
        char *path = name_frame(folder, frame);
        status = path ? write_png(s, path, frame, 1, &group) : GLS_ERR_MEMORY;
        free(path);
    }
    status = gls_output_group_end(&group, status);
    if (status && made) rmdir(folder);
    return status;
}

/* Checks the names of all frames against inputs and existing files. */
static gls_status check_frames(const gls_inputs *inputs, const char *folder, const gls_render_options *o)
{
    gls_status status = GLS_OK;
    for (uint32_t frame = 0; frame < o->turn && !status; frame++) {
        char *path = name_frame(folder, frame);
        status = path ? gls_inputs_check(inputs, path) : GLS_ERR_MEMORY;
        if (!status) status = gls_output_check(path, o->force, NULL, 0);
        free(path);
    }
    return status;
}

/* Checks the name of the picture against inputs and existing files, before anything is drawn. */
static gls_status check_output(const char *const *files, size_t n, const char *output, const gls_render_options *o)
{
    if (!o->frames && !gls_case_ends(output, ".png") && !gls_case_ends(output, ".apng"))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: the name of a picture ends in .png or .apng", output);
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add_all(&inputs, files, n);
    if (!status) status = gls_inputs_add(&inputs, o->image);
    if (!status) status = gls_inputs_add(&inputs, o->odf);
    if (!status && o->outline && strcmp(o->outline, "density") != 0) status = gls_inputs_add(&inputs, o->outline);
    if (!status) status = gls_inputs_add(&inputs, o->colors);
    if (!status) status = gls_inputs_add_chain(&inputs, &o->transform);
    if (!status)
        status = o->frames ? check_frames(&inputs, output, o) : gls_place_check(output, o->force, &inputs, NULL, 0);
    gls_inputs_finish(&inputs);
    return status;
}

gls_status gls_render_files(const char *const *tractograms, size_t n, const char *output,
                            const gls_render_options *options, gls_render_result *result)
{
    GLS_REQUIRE_SIZE(options);
    gls_render_options defaults = gls_render_options_default();
    const gls_render_options *o = options ? options : &defaults;
    gls_studio studio;
    GLS_REQUIRE(output && ((tractograms && n >= 1) || (n == 0 && (o->odf || o->image))));
    for (size_t i = 0; i < n; i++) GLS_REQUIRE(tractograms[i]);
    gls_status status = check_numbers(o);
    if (!status) status = check_output(tractograms, n, output, o);
    if (!status) status = gls_studio_open(tractograms, n, o, &studio);
    if (!status) {
        status = o->frames ? write_frames(&studio, output) : write_png(&studio, output, 0, o->turn ? o->turn : 1, NULL);
        if (!status && result) *result = studio.result;
        if (!status && o->fail_if_empty && n > 0 && studio.result.shown == 0)
            status = gls_fail(GLS_ERR_EMPTY, "%s: the picture was written, but shows no streamline (--fail-if-empty)",
                              output);
        gls_studio_close(&studio);
    }
    return status;
}
