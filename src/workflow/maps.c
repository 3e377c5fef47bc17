#include "workflow/maps.h"

#include <stdlib.h>
#include <string.h>

#include "tracts/grouped.h"
#include "tracts/visited.h"
#include "util/hash.h"
#include "util/parse.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/series.h"
#include "workflow/shard.h"
#include "workflow/tracts/profile_table.h"

/* The name of an output of this part of the run; from malloc. */
static gls_status name_output(const char *path, const gls_shard *shard, char **name)
{
    *name = shard->count > 0 ? gls_shard_name(path, shard) : gls_text_copy(path);
    return *name ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
}

/* The same of the end of an option that joins names. */
static gls_status name_last(const char *text, const gls_shard *shard, char **name)
{
    char *path = gls_names_copy(text, strlen(text));
    gls_status status = path ? name_output(path, shard, name) : gls_fail(GLS_ERR_MEMORY, "out of memory");
    free(path);
    return status;
}

/* "INPUT:FILE" */
static gls_status take_connectome(gls_maps *m, const char *text, const gls_shard *shard)
{
    const char *colon = gls_names_last(text, ':');
    if (!colon || colon == text || !colon[1])
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--connectome: \"%s\": must be LABELS:FILE, two names with a colon between them (\\: is a "
                        "colon in a name)",
                        text);
    m->labels = gls_names_copy(text, (size_t)(colon - text));
    if (!m->labels) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    return name_last(colon + 1, shard, &m->matrix);
}

/* "BUNDLES:FILE" or "BUNDLES:IMAGE,IMAGE:FILE" */
static gls_status take_profile(gls_maps *m, const char *text, const gls_shard *shard)
{
    const char *last = gls_names_last(text, ':'), *first = gls_names_first(text, ':');
    if (!last || first == text || !last[1])
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--profile: \"%s\": must be BUNDLES:FILE or BUNDLES:IMAGE,IMAGE:FILE, names with colons and commas between "
            "them (\\: and \\, are such letters in a name)",
            text);
    if (shard->count > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--profile: not with --shard: merge the shards, then 'glslines profile'");
    m->rules = gls_names_copy(text, (size_t)(first - text));
    char *list = first < last ? strndup(first + 1, (size_t)(last - first - 1)) : NULL, *rest = list;
    bool done = m->rules && (list || first == last);
    for (char *image; done && rest && (image = gls_names_next(&rest, ','));) {
        if (m->n_images == GLS_MAPS_MAX_IMAGES) {
            free(list);
            return gls_fail(GLS_ERR_ARGUMENT, "--profile: more than %d images", GLS_MAPS_MAX_IMAGES);
        }
        done = (m->image[m->n_images] = gls_text_copy(image));
        m->n_images += done;
    }
    free(list);
    if (!done) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    return name_last(last + 1, shard, &m->profile);
}

gls_status gls_maps_init(gls_maps *maps, const gls_job_options *o, const gls_shard *shard)
{
    *maps = (gls_maps){.fa = o->fa, .seed_table = {.output = GLS_OUTPUT_NONE}};
    gls_status status = gls_weigh_check(o);
    if (!status && o->dec && o->shard)
        status = gls_fail(GLS_ERR_ARGUMENT, "--dec: not with --shard: merge the shards, then 'glslines density --dec'");
    if (!status && o->dec) status = gls_image_name_check(o->dec);
    if (!status && o->dec) status = name_output(o->dec, shard, &maps->dec);
    if (!status && o->density) status = gls_image_name_check(o->density);
    if (!status && o->density) status = name_output(o->density, shard, &maps->density);
    if (!status && o->connectome) status = take_connectome(maps, o->connectome, shard);
    if (!status && o->output_seeds) status = name_output(o->output_seeds, shard, &maps->seeds);
    if (!status) status = gls_track_sample_take(&maps->sample, o);
    if (!status) status = gls_track_segment_take(&maps->segment, o);
    if (!status && o->profile) status = take_profile(maps, o->profile, shard);
    if (!status && gls_maps_want_fa(maps) && !o->fa && !o->dwi && !o->phantom)
        status = gls_fail(GLS_ERR_ARGUMENT, "--profile: there is no FA without DWI: give --fa FILE, or name images, "
                                            "BUNDLES:IMAGE:FILE");
    return status;
}

size_t gls_maps_outputs(const gls_maps *maps, gls_job_file file[GLS_MAPS_OUTPUTS])
{
    const gls_job_file all[GLS_MAPS_OUTPUTS] = {
        {"density", maps->density},     {"dec", maps->dec},
        {"connectome", maps->matrix},   {"profile", maps->profile},
        {"sample", maps->sample.table}, {"segment", maps->segment.table},
        {"output_seeds", maps->seeds},  {"weights", maps->weights},
    };
    size_t n = 0;
    for (int i = 0; i < GLS_MAPS_OUTPUTS; i++)
        if (all[i].path) file[n++] = all[i];
    return n;
}

size_t gls_maps_inputs(const gls_maps *maps, const char *path[GLS_MAPS_INPUTS])
{
    size_t n = 0;
    if (maps->labels) path[n++] = maps->labels;
    if (maps->rules) path[n++] = maps->rules;
    for (size_t i = 0; i < maps->n_images; i++) path[n++] = maps->image[i];
    for (size_t i = 0; i < maps->sample.n_images; i++) path[n++] = maps->sample.image[i];
    if (maps->segment.rules) path[n++] = maps->segment.rules;
    return n;
}

uint64_t gls_maps_choice(const gls_maps *m)
{
    const gls_sample_set *set = &m->sample.set;
    const uint64_t numbers[] = {m->labels != NULL,
                                m->rules != NULL,
                                m->n_images,
                                m->sample.n_images,
                                m->sample.n_images > 0 && !m->sample.table,
                                (m->segment.rules != NULL) + m->segment.unique,
                                set->n_stats};
    const size_t n = sizeof numbers / sizeof *numbers;
    uint64_t word[sizeof numbers / sizeof *numbers + GLS_TRACK_STATS] = {0};
    memcpy(word, numbers, sizeof numbers);
    for (size_t k = 0; k < set->n_stats; k++) word[n + k] = set->stat[k];
    return gls_hash(word, sizeof word);
}

static gls_status create_connectome(gls_maps *maps)
{
    gls_image *labels = NULL;
    gls_connectome_options options = gls_connectome_options_default();
    if (maps->weigh.weights) options.weights = GLS_DPS_WEIGHTS;
    gls_status status = gls_image_read(maps->labels, GLS_IMAGE_3D, &labels);
    if (!status) status = gls_connectome_create(labels, maps->labels, &options, &maps->connectome);
    gls_image_destroy(labels);
    return status;
}

static gls_status create_bundles(gls_maps *maps, const gls_grid *grid)
{
    gls_bundles_options options = gls_bundles_options_default();
    options.keep_nodes = true;
    options.grid = grid;
    return gls_bundles_read(maps->rules, &options, &maps->bundles);
}

static gls_status create_maps(gls_maps *maps, const gls_grid *grid, bool overwrite, gls_output_group *group)
{
    gls_density_options directions = gls_density_options_default();
    directions.directions = true;
    gls_grid plain = *grid;
    plain.space = 0; /* as in a tractogram, so that its maps have the same bytes */
    gls_status status = maps->density ? gls_density_create(&plain, NULL, &maps->map) : GLS_OK;
    if (maps->map) gls_density_use_visited(maps->map, &maps->visited);
    if (!status && maps->dec) status = gls_density_create(&plain, &directions, &maps->dec_map);
    if (!status && maps->labels) status = create_connectome(maps);
    if (!status && maps->seeds) status = gls_seed_table_begin(maps->seeds, overwrite, group, &maps->seed_table);
    return status;
}

gls_status gls_maps_read_rules(gls_maps *maps, const gls_grid *grid, bool shards, bool trx)
{
    gls_status status = gls_input_file_check(&(gls_input_file){.path = maps->rules}, NULL);
    if (!status) status = gls_input_file_check(&(gls_input_file){.path = maps->segment.rules}, NULL);
    if (!status && maps->rules) status = create_bundles(maps, grid);
    return status || !maps->segment.rules ? status : gls_track_segment_begin(&maps->segment, grid, shards, trx);
}

gls_status gls_maps_add(gls_maps *maps, const gls_grid *grid, bool overwrite, gls_output_group *group, gls_sink *sink)
{
    gls_sink all[9], sampler = *sink;
    const bool samples = maps->sample.n_images > 0;
    size_t n = 0;
    gls_status status = create_maps(maps, grid, overwrite, group);
    if (!status && samples) status = gls_track_sample_begin(&maps->sample, overwrite, group, &sampler);
    if (status) return status;
    if (samples && !maps->sample.table) *sink = sampler;
    if (sink->append) all[n++] = *sink;
    if (samples && maps->sample.table) all[n++] = sampler;
    if (maps->map) all[n++] = gls_density_sink(maps->map);
    if (maps->dec_map) all[n++] = gls_density_sink(maps->dec_map);
    if (maps->weigh.weights)
        all[n++] = gls_weigh_sink(&maps->weigh);
    else if (maps->connectome)
        all[n++] = gls_connectome_sink(maps->connectome);
    if (maps->bundles) all[n++] = gls_bundles_sink(maps->bundles);
    if (maps->segment.rules) all[n++] = gls_track_segment_sink(&maps->segment);
    if (maps->seeds) all[n++] = gls_seed_table_sink(&maps->seed_table);
    if (n == 1 && sink->append) return GLS_OK;
    status = gls_sink_tee(all, n, sink);
    if (status && samples && maps->sample.table) gls_sink_abort(&sampler);
    return status;
}

bool gls_maps_need_points(const gls_maps *m, const gls_grid *tracked)
{
    return (m->map && !gls_density_takes_visited(m->map, tracked)) || m->dec_map || m->weigh.weights || m->bundles ||
           m->segment.bundles || m->sample.n_images > 0 || m->seeds ||
           (m->connectome && gls_connectome_needs_points(m->connectome));
}

static gls_status weigh(gls_maps *maps, const gls_device_set *devices, gls_tractogram_writer *writer)
{
    gls_weigh *w = &maps->weigh;
    uint64_t n;
    if (!w->weights) return GLS_OK;
    gls_status status = gls_weigh_solve(w, devices);
    if (!status && maps->connectome) status = gls_weigh_connect(w, maps->connectome);
    if (status || maps->weights || !writer) return status;
    const gls_column column = {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, gls_weigh_get(w, &n)};
    return gls_tractogram_writer_add_dps(writer, &column);
}

gls_status gls_maps_complete(gls_maps *maps, const gls_device_set *devices, gls_tractogram_writer *writer)
{
    gls_status status = weigh(maps, devices, writer);
    return status ? status : gls_track_segment_complete(&maps->segment, writer);
}

bool gls_maps_want_fa(const gls_maps *maps)
{
    return maps->rules && maps->n_images == 0;
}

static gls_status write_profile(gls_maps *maps, const gls_image *fa, bool overwrite, gls_output_group *group)
{
    gls_image *read[GLS_MAPS_MAX_IMAGES] = {NULL};
    const gls_image *image[GLS_MAPS_MAX_IMAGES];
    char *name[GLS_MAPS_MAX_IMAGES] = {NULL};
    const size_t n = maps->n_images > 0 ? maps->n_images : 1;
    gls_status status = GLS_OK;
    GLS_REQUIRE(fa || !gls_maps_want_fa(maps));
    for (size_t i = 0; i < n && !status; i++) {
        const char *file = maps->n_images > 0 ? maps->image[i] : maps->fa ? maps->fa : "fa";
        if (maps->n_images > 0) status = gls_image_read(file, GLS_IMAGE_ANY, &read[i]);
        image[i] = maps->n_images > 0 ? read[i] : fa;
        name[i] = gls_profile_column(file);
        if (!status && !name[i]) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    }
    const gls_profile_table table = {.image = image,
                                     .name = (const char *const *)name,
                                     .n_images = n,
                                     .sampling = gls_sample_options_default(),
                                     .weights = GLS_PROFILE_MAHALANOBIS};
    if (!status) status = gls_bundles_complete(maps->bundles);
    if (!status)
        status = gls_profile_table_write(&table, maps->bundles, gls_bundles_options_default().nodes, maps->profile,
                                         overwrite, group);
    for (size_t i = 0; i < n; i++) {
        gls_image_destroy(read[i]);
        free(name[i]);
    }
    return status;
}

gls_status gls_maps_write(gls_maps *maps, const gls_image *fa, bool overwrite, gls_output_group *group)
{
    gls_status status = GLS_OK;
    if (maps->map) status = gls_density_write_grouped(maps->map, maps->density, overwrite, group);
    if (maps->dec_map && !status) status = gls_density_write_grouped(maps->dec_map, maps->dec, overwrite, group);
    if (maps->connectome && !status)
        status = gls_connectome_write_grouped(maps->connectome, maps->matrix, overwrite, group, NULL, "nan");
    if (maps->weights && maps->weigh.weights && !status) {
        uint64_t n;
        const float *value = gls_weigh_get(&maps->weigh, &n);
        status = gls_weights_write_text(maps->weights, overwrite, group, value, n, 1, "weights by glslines");
    }
    if (maps->bundles && !status) status = write_profile(maps, fa, overwrite, group);
    if (maps->sample.n_images > 0 && !status) status = gls_track_sample_end(&maps->sample);
    if (!status) status = gls_track_segment_write(&maps->segment, overwrite, group);
    if (maps->seeds && !status) status = gls_seed_table_end(&maps->seed_table);
    return status;
}

void gls_maps_finish(gls_maps *maps)
{
    gls_density_destroy(maps->map);
    gls_density_destroy(maps->dec_map);
    gls_track_sample_finish(&maps->sample);
    gls_track_segment_finish(&maps->segment);
    gls_connectome_destroy(maps->connectome);
    gls_bundles_destroy(maps->bundles);
    gls_weigh_finish(&maps->weigh);
    gls_seed_table_discard(&maps->seed_table);
    free(maps->seeds);
    free(maps->weights);
    for (size_t i = 0; i < maps->n_images; i++) free(maps->image[i]);
    free(maps->density);
    free(maps->dec);
    free(maps->labels);
    free(maps->matrix);
    free(maps->rules);
    free(maps->profile);
    *maps = (gls_maps){.n_images = 0};
}
