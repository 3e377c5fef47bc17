/* Lists the model bundles of an atlas: folders, files, groups of a file, and the thresholds of a configuration. */
#include "geometry/atlas.h"

#include <cJSON.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <glslines/filters.h>
#include <glslines/log.h>
#include <glslines/select.h>

#include "geometry/recognition.h"
#include "transform/move_points.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

/* Largest configuration, bytes. */
#define MAX_CONFIG ((size_t)1 << 20)
/* An atlas whose mean lies farther from that of the tractogram, mm, may be in another space. */
#define OTHER_SPACE 20.0
/* So many bundles lie about where all streamlines do. */
#define MANY 5
/* A bundle that moves by less, mm, lies right and turns about itself alone. */
#define IN_PLACE 5.0
/* Parameters of a registration that say where a model lies; scales and shears, which narrow bundles do not determine,
 * follow. */
#define WHERE 0x3fu

void gls_atlas_finish(gls_atlas *atlas)
{
    for (size_t k = 0; k < atlas->n; k++) {
        free(atlas->bundle[k].path);
        free(atlas->bundle[k].group);
        free(atlas->bundle[k].atlas);
        free(atlas->bundle[k].name);
    }
    free(atlas->bundle);
    *atlas = (gls_atlas){.n = 0};
}

/* Whether a name ends as that of a tractogram. */
static bool is_tractogram(const char *name)
{
    static const char *const suffixes[] = {".trx", ".trk", ".tck", ".vtk", ".vtp", ".fib"};
    char packed[8];
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++) {
        snprintf(packed, sizeof packed, "%s.gz", suffixes[k]);
        if (gls_case_ends(name, suffixes[k]) || gls_case_ends(name, packed)) return true;
    }
    return false;
}

/* Whether a path is a folder that is no tractogram. */
static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) && !is_tractogram(path);
}

/* Adds a bundle. group: name of the group; NULL: the bundle is a whole file. */
static gls_status add(gls_atlas *a, const char *path, const char *group, const char *atlas)
{
    gls_atlas_bundle *more = realloc(a->bundle, (a->n + 1) * sizeof *more);
    if (!more) return gls_no_memory();
    a->bundle = more;
    const char *file = gls_file_name(path);
    gls_atlas_bundle *b = &a->bundle[a->n++];
    *b = (gls_atlas_bundle){.path = gls_text_copy(path),
                            .atlas = gls_text_copy(atlas),
                            .name = group ? gls_text_copy(group) : strndup(file, strcspn(file, "."))};
    if (group) b->group = gls_text_copy(group);
    return b->path && b->atlas && b->name && (b->group || !group) ? GLS_OK : gls_no_memory();
}

/* Adds the bundles of a file: each of its groups but that of streamlines in no bundle, or the whole file as one. */
static gls_status add_file(gls_atlas *a, const char *path, const char *atlas, bool by_group)
{
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    if (!by_group || !gls_case_ends(path, ".trx")) return add(a, path, NULL, atlas);
    options.quiet = true;
    gls_status status = gls_tractogram_reader_open(path, &options, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    for (size_t k = 0; !status && k < info->n_groups; k++)
        if (strcmp(info->group[k].name, GLS_GROUP_UNRECOGNIZED) != 0) status = add(a, path, info->group[k].name, atlas);
    if (!status && info->n_groups == 0) status = add(a, path, NULL, atlas);
    gls_tractogram_reader_close(reader);
    return status;
}

/* For scandir(): leaves out hidden files, . and .. alike. */
static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* For scandir(): names by bytes, in any locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds the tractograms of a folder. deep: also those of the folders in it, each an atlas of its own. */
static gls_status add_folder(gls_atlas *a, const char *path, bool deep)
{
    struct dirent **entry = NULL;
    gls_status status = GLS_OK;
    const int n = scandir(path, &entry, is_shown, by_name);
    if (n < 0) return gls_fail(GLS_ERR_INPUT, "%s: the folder cannot be read: %m", path);
    for (int k = 0; k < n; k++) {
        char *inner = NULL;
        if (!status && gls_asprintf(&inner, "%s/%s", path, entry[k]->d_name) < 0) status = gls_no_memory();
        if (!status && is_tractogram(entry[k]->d_name))
            status = add_file(a, inner, path, false);
        else if (!status && deep && is_folder(inner))
            status = add_folder(a, inner, false);
        free(inner);
        free(entry[k]);
    }
    free(entry);
    return status;
}

/* Finds the threshold of a bundle in a configuration, whose keys are names of files; NaN: it has none. *index: the
 * number of its key. */
static double find_threshold(const cJSON *config, const char *name, size_t *index)
{
    const cJSON *item;
    *index = 0;
    cJSON_ArrayForEach(item, config)
    {
        const size_t n = strcspn(item->string, ".");
        if (strlen(name) == n && strncmp(item->string, name, n) == 0) return cJSON_GetNumberValue(item);
        (*index)++;
    }
    return NAN;
}

/* Sets thresholds from the configuration, and drops bundles that it lacks. */
static gls_status configure(gls_atlas *a, const char *path)
{
    cJSON *config = NULL;
    gls_status status = gls_json_load(path, MAX_CONFIG, &config);
    if (status) return status;
    if (!cJSON_IsObject(config)) {
        cJSON_Delete(config);
        return gls_fail(GLS_ERR_INPUT, "%s: must be JSON of the form {\"NAME.trk\": 8, ...}", path);
    }
    const size_t count = (size_t)cJSON_GetArraySize(config);
    bool *used = calloc(count + 1, sizeof *used);
    if (!used) status = gls_no_memory();
    size_t n = 0;
    for (size_t k = 0; k < a->n; k++) {
        gls_atlas_bundle b = a->bundle[k];
        size_t index;
        b.threshold = find_threshold(config, b.name, &index);
        if (!status && index < count) {
            used[index] = true;
            if (!(b.threshold > 0 && isfinite(b.threshold)))
                status = gls_fail(GLS_ERR_INPUT, "%s: the threshold of %s must be a number above 0 (mm)", path, b.name);
        } else if (!status) {
            gls_log(GLS_LOG_WARNING, "%s: is left out, as %s has no threshold for it", b.path, path);
        }
        if (index < count) {
            a->bundle[n++] = b;
            continue;
        }
        free(b.path);
        free(b.group);
        free(b.atlas);
        free(b.name);
    }
    a->n = n;
    for (size_t k = 0; k < count && !status; k++)
        if (!used[k]) gls_log(GLS_LOG_WARNING, "%s: no atlas has %s", path, cJSON_GetArrayItem(config, (int)k)->string);
    free(used);
    cJSON_Delete(config);
    return status;
}

gls_status gls_atlas_list(const char *path, const char *config, double threshold, gls_atlas *atlas)
{
    *atlas = (gls_atlas){.n = 0};
    char *folder = is_folder(path) ? gls_text_copy(path) : NULL;
    /* the name of the atlas ends without the slash that shells complete */
    for (size_t n = folder ? strlen(folder) : 0; n > 1 && folder[n - 1] == '/'; n--) folder[n - 1] = '\0';
    gls_status status = folder            ? add_folder(atlas, folder, true)
                        : is_folder(path) ? gls_no_memory()
                                          : add_file(atlas, path, path, true);
    free(folder);
    for (size_t k = 0; k < atlas->n; k++) atlas->bundle[k].threshold = threshold;
    if (!status && config) status = configure(atlas, config);
    if (!status && atlas->n == 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has no bundles: a folder of tractograms (.trx, .trk, .tck, .vtk, .vtp), or a folder of "
                          "such folders is needed",
                          path);
    return status;
}

gls_status gls_atlas_read_bundle(const gls_atlas_bundle *b, const gls_tractogram_read_options *options,
                                 const double map[3][4], const gls_sink *to)
{
    const char *group[] = {b->group};
    gls_tractogram_reader *reader = NULL;
    gls_selection *selection = NULL;
    gls_sink sink = *to, next = sink;
    gls_status status = gls_tractogram_reader_open(b->path, options, &reader);
    if (!status && map) status = gls_filter_transform_create(map, &next, &sink);
    next = sink;
    if (!status && b->group) {
        gls_select_options select = gls_select_options_default();
        select.group = group;
        select.n_groups = 1;
        status = gls_selection_create(&select, &selection);
        if (!status) status = gls_selection_filter(selection, &next, &sink);
    }
    if (!status) status = gls_tractogram_pump(reader, &sink, NULL, NULL);
    if (!status)
        status = gls_sink_finish(&sink);
    else
        gls_sink_abort(&sink);
    gls_tractogram_reader_close(reader);
    gls_selection_destroy(selection);
    return status;
}

/* Adds one bundle to a recognition. */
static gls_status read_bundle(const gls_atlas_bundle *b, const gls_tractogram_read_options *options,
                              const double map[3][4], const gls_transform *space, gls_recognition *r)
{
    gls_sink sink = {0};
    gls_move_counts moved = {0};
    gls_status status = gls_recognition_add(r, b->atlas, b->name, b->threshold, &sink);
    const gls_sink next = sink;
    if (!status && space && space->n > 0) {
        status = gls_filter_move_create(space, true, &moved, &next, &sink);
        if (status) gls_sink_abort(&sink);
    }
    if (!status) status = gls_atlas_read_bundle(b, options, map, &sink);
    if (!status && moved.outside > 0)
        gls_log(GLS_LOG_WARNING, "%s: %s: %" PRIu64 " of %" PRIu64 " points have no place in the other space", b->atlas,
                b->name, moved.outside, moved.points);
    return status;
}

gls_status gls_atlas_read(const gls_atlas *atlas, const gls_tractogram_read_options *options, const double map[3][4],
                          const gls_transform *space, gls_recognition *r)
{
    gls_status status = GLS_OK;
    for (size_t k = 0; k < atlas->n && !status; k++) status = read_bundle(&atlas->bundle[k], options, map, space, r);
    return status;
}

gls_status gls_atlas_check(const gls_recognition *r, const char *atlas, const char *tracks)
{
    static const char *const axes[] = {"", "x", "y", "x and y"};
    const gls_mirror mirror = gls_recognition_mirror(r);
    uint64_t total = 0;
    size_t n_registered = 0, n_bound = 0, n_far = 0, n_empty = 0;
    for (size_t k = 0; k < gls_recognition_models(r); k++) {
        const gls_model_info m = gls_recognition_model(r, k);
        total += m.streamlines;
        if (m.streamlines == 0 && ++n_empty)
            gls_log(GLS_LOG_WARNING, "%s: the bundle %s has no streamlines", m.atlas, m.bundle);
        else if (m.is_far && ++n_far)
            gls_log(GLS_LOG_WARNING, "%s: no streamlines of %s are near the bundle %s", m.atlas, tracks, m.bundle);
        n_registered += m.registered;
        /* a narrow bundle may turn about itself by as much as is allowed, but not most of many */
        n_bound +=
            m.registered && (m.slr.at_bound & WHERE) && (m.shift > IN_PLACE || gls_recognition_models(r) >= MANY);
    }
    if (2 * n_bound > n_registered)
        gls_log(GLS_LOG_WARNING,
                "%s: bundles moved as far as the registration allows: %zu of %zu: check that the atlas lies in the "
                "space of %s; --table says which",
                atlas, n_bound, n_registered, tracks);
    if (total == 0) return gls_fail(GLS_ERR_INPUT, "%s: all its bundles are empty", atlas);
    /* a few bundles lie aside of the others, and one may be much like another one mirrored */
    const bool many = gls_recognition_models(r) - n_empty >= MANY && gls_recognition_bundles(r) >= MANY;
    if (mirror.axes && many)
        gls_log(GLS_LOG_WARNING,
                "%s: mirrored along %s its streamlines are %.1f mm from those of %s, but %.1f mm as they lie: if its "
                "coordinates are LPS, or those of another space, give --transform or --atlas-transform of 'glslines "
                "recognize'",
                atlas, axes[mirror.axes], mirror.after, tracks, mirror.before);
    if (gls_recognition_gap(r) > OTHER_SPACE && (many || n_far > 0 || 2 * n_bound > n_registered))
        gls_log(GLS_LOG_WARNING,
                "%s: the mean of its streamlines is %.0f mm away from that of %s: if it lies in another space, give "
                "--transform or --atlas-transform of 'glslines recognize'",
                atlas, gls_recognition_gap(r), tracks);
    return GLS_OK;
}
