/* Finds the kind of a file by its name, and compares it with the kinds that an option writes. */
#include "record/output_name.h"

#include <string.h>

#include "image/image_write.h"
#include "tractogram/tractogram.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* A kind, as messages name it, and the suffixes of files of this kind that can be written. */
typedef struct kind_row {
    gls_writes kind;
    const char *name, *suffixes;
} kind_row;

static const kind_row kinds[] = {
    {GLS_WRITES_TEXT, "text", ".tsv, .csv or .txt (.json for JSON)"},
    {GLS_WRITES_IMAGE, "an image", ".nii, .nii.gz, .mif or .mif.gz"},
    {GLS_WRITES_TRACTOGRAM, "a tractogram", ".trx, .trk, .tck or .vtk"},
    {GLS_WRITES_SCALARS, "track scalars", ".tsf"},
    {GLS_WRITES_PICTURE, "a picture", ".png or .apng"},
    {GLS_WRITES_PAGE, "a web page", ".html"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The kind of a file by the suffix of its name: text, if no other kind has this suffix. */
static const kind_row *kind_of(const char *path)
{
    /* images that are read, but not written, count as images */
    static const struct {
        const char *suffix;
        gls_writes kind;
    } other[] = {{".hdr", GLS_WRITES_IMAGE},    {".img", GLS_WRITES_IMAGE},   {".img.gz", GLS_WRITES_IMAGE},
                 {".mgh", GLS_WRITES_IMAGE},    {".mgz", GLS_WRITES_IMAGE},   {".mih", GLS_WRITES_IMAGE},
                 {".nrrd", GLS_WRITES_IMAGE},   {".tsf", GLS_WRITES_SCALARS}, {".png", GLS_WRITES_PICTURE},
                 {".apng", GLS_WRITES_PICTURE}, {".html", GLS_WRITES_PAGE}};
    gls_writes kind = gls_image_is_output(path)      ? GLS_WRITES_IMAGE
                      : gls_tractogram_is_name(path) ? GLS_WRITES_TRACTOGRAM
                                                     : GLS_WRITES_TEXT;
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (gls_case_ends(path, other[k].suffix)) kind = other[k].kind;
    const kind_row *row = kinds;
    while (row->kind != kind) row++;
    return row;
}

/* The name of the output in the value of an option: behind the colon of LABELS:FILE, of MM[:FILE] and the like. NULL:
 * the value names no file. */
static const char *file_in(const gls_option *option, const char *value)
{
    if (!*value || (strncmp(value, "dps:", 4) == 0 && strstr(option->metavar, "|dps:"))) return NULL;
    if (!strchr(option->metavar, ':') || strstr(option->metavar, "|dps:")) return value;
    const char *colon = gls_names_last(value, ':');
    return colon && colon[1] ? colon + 1 : NULL;
}

gls_status gls_output_name_check(const gls_option *option, const char *value)
{
    const char *path = option->writes && !(option->writes & GLS_WRITES_SEVERAL) ? file_in(option, value) : NULL;
    if (!path || ((option->writes & GLS_WRITES_OR_NONE) && strcmp(path, "none") == 0)) return GLS_OK;
    const kind_row *is = kind_of(path);
    if (option->writes & (int)is->kind) return GLS_OK;
    gls_text names = {0}, suffixes = {0};
    for (size_t k = 0; k < N_KINDS; k++) {
        if (!(option->writes & (int)kinds[k].kind)) continue;
        gls_text_printf(&names, "%s%s", names.length > 0 ? " or " : "", kinds[k].name);
        gls_text_printf(&suffixes, "%s%s", suffixes.length > 0 ? "; or " : "", kinds[k].suffixes);
    }
    const bool other = is->kind != GLS_WRITES_TEXT;
    gls_status status = gls_fail(GLS_ERR_ARGUMENT, "--%s: %s: is %s%s%s%s: give a name that ends with %s", option->name,
                                 path, other ? "the name of " : "not the name of ", other ? is->name : "",
                                 other ? ", but this output is " : "", names.data ? names.data : "",
                                 suffixes.data ? suffixes.data : "");
    gls_text_finish(&names);
    gls_text_finish(&suffixes);
    return status;
}

gls_status gls_option_outputs_check(const gls_option *option, const void *options)
{
    const void *at = (const char *)options + option->offset;
    gls_status status = GLS_OK;
    if (!option->writes) return GLS_OK;
    if (option->kind == GLS_KIND_STRING) {
        const char *value = *(const char *const *)at;
        return value ? gls_output_name_check(option, value) : GLS_OK;
    }
    const gls_strings *list = at;
    for (int i = 0; i < list->n && !status; i++) status = gls_output_name_check(option, list->value[i]);
    return status;
}
