/* track --profile BUNDLES:FILE or BUNDLES:IMAGE,IMAGE:FILE: values of images along bundles that rules define. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "tracts/other_space.h"
#include "tracts/profile_table.h"
#include "transform/bring.h"
#include "util/numbers.h"
#include "util/status.h"

/* State of --profile. */
typedef struct profile_state {
    /* the bundles, with the nodes of their streamlines */
    gls_bundles *bundles;
    /* the images that the option names */
    gls_image *image[GLS_SINK_MAX_IMAGES];
} profile_state;

/* Parses BUNDLES:FILE or BUNDLES:IMAGE,IMAGE:FILE. Without images the profile is of FA, or of the image of --fa. */
static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    const char *text = o->profile, *last = text ? gls_names_last(text, ':') : NULL,
               *first = text ? gls_names_first(text, ':') : NULL;
    /* the first colon ends the name of the rules, the last one precedes the name of the table; images are between
     * them */
    if (!text) return GLS_OK;
    if (!last || first == text || !last[1])
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--profile: \"%s\": must be BUNDLES:FILE or BUNDLES:IMAGE,IMAGE:FILE; inside a name write \\: and \\, "
            "for a colon and a comma",
            text);
    if (sinks->shard->count > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--profile: not with --shard: merge the shards, then run 'glslines profile'");
    if (first == last && !o->fa && !o->dwi && !o->phantom)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--profile: there is no FA without DWI: give --fa FILE, or name images, as in BUNDLES:IMAGE:FILE");
    sink->wanted = true;
    sinks->wants_fa |= first == last;
    gls_status status = gls_sink_reads(sink, text, (size_t)(first - text));
    if (!status && first < last) status = gls_sink_reads_images(sink, first + 1, (size_t)(last - first - 1));
    return status ? status : gls_sink_writes(sink, sinks, last + 1);
}

/* Reads the rules, whose regions are inputs of the run, and the images. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    profile_state *s = sink->state;
    gls_bundles_options options = gls_bundles_options_default();
    /* positions along bundles are kept until the end, when the core is known */
    options.keep_nodes = true;
    options.grid = sinks->grid;
    gls_status status = gls_bundles_read_in(sink->input[0], &options, sinks->transform, &s->bundles);
    sink->bundles = s->bundles;
    for (size_t i = 1; i < sink->n_inputs && !status; i++) {
        status = gls_image_read(sink->input[i], GLS_IMAGE_ANY, &s->image[i - 1]);
        if (!status)
            status = gls_image_bring(&s->image[i - 1], sinks->transform, GLS_RESAMPLE_LINEAR, NAN, sink->input[i]);
    }
    return status;
}

static gls_status open_profile(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    (void)sinks, (void)tractogram;
    *own = gls_bundles_sink(((profile_state *)sink->state)->bundles);
    return GLS_OK;
}

/* Writes the table of profiles. Without images the values are FA, or those of the image of --fa. */
static gls_status write_profile(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const profile_state *s = sink->state;
    const gls_image *image[GLS_SINK_MAX_IMAGES] = {sinks->scalar};
    char *name[GLS_SINK_MAX_IMAGES] = {NULL};
    const bool by_fa = sink->n_inputs == 1;
    const size_t n = by_fa ? 1 : sink->n_inputs - 1;
    gls_status status = GLS_OK;
    GLS_REQUIRE(image[0] || !by_fa);
    for (size_t i = 0; i < n && !status; i++) {
        const char *file = !by_fa ? sink->input[1 + i] : sinks->options->fa ? sinks->options->fa : "fa";
        if (!by_fa) image[i] = s->image[i];
        name[i] = gls_profile_column(file);
        if (!name[i]) status = gls_no_memory();
    }
    const gls_profile_table table = {.image = image,
                                     .name = (const char *const *)name,
                                     .n_images = n,
                                     .sampling = gls_sample_options_default(),
                                     .weights = GLS_PROFILE_MAHALANOBIS};
    if (!status) status = gls_bundles_complete(s->bundles);
    if (!status)
        status = gls_profile_table_write(&table, s->bundles, gls_bundles_options_default().nodes, sink->output,
                                         sinks->run->force, &sinks->run->group);
    for (size_t i = 0; i < n; i++) free(name[i]);
    return status;
}

static void finish(gls_run_sink *sink)
{
    profile_state *s = sink->state;
    gls_bundles_destroy(s->bundles);
    for (size_t i = 0; i < GLS_SINK_MAX_IMAGES; i++) gls_image_destroy(s->image[i]);
}

const gls_sink_kind gls_profile_kinds[] = {{.role = "profile",
                                            .size = sizeof(profile_state),
                                            .take = take,
                                            .prepare = prepare,
                                            .open = open_profile,
                                            .write = write_profile,
                                            .finish = finish}};
