/* glslines density: a map of how many streamlines, or mm of them, lie in each voxel. */
#include <glslines/density.h>

#include <inttypes.h>
#include <string.h>

#include "tracts/grouped.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/status.h"
#include "workflow/tracts/tracts.h"

enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY };

static gls_status choose_grid(const gls_density_cli *o, const char *in, const gls_tractogram_info *info, gls_grid *grid)
{
    if (o->template_image) return gls_tract_grid_read(o->template_image, grid);
    if (!info->has_grid) return gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid: name an image with --template", in);
    *grid = info->grid;
    return GLS_OK;
}

static gls_status choose_upsampling(const gls_density_cli *o, const char *in, const gls_tractogram_info *info,
                                    const gls_grid *grid, uint32_t *upsample)
{
    static const char *const keys[] = {"output_step_size", "step_size"};
    double step = o->step_size;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < info->n_header && step == 0; k++)
            if (info->format == GLS_FORMAT_TCK && strcmp(info->header[k].key, keys[i]) == 0 &&
                !gls_parse_double(info->header[k].value, &step))
                step = 0;
    if (step <= 0)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: does not say its step: --mapping mrtrix needs --step-size", in);
    *upsample = gls_density_upsampling(step, grid);
    return GLS_OK;
}

static gls_status map(gls_tract_job *job, const gls_density_cli *o, const char *in, gls_density **density)
{
    gls_density_options options = gls_density_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_tract_weights weights;
    gls_sink sink = {0};
    gls_grid grid;
    gls_status status = gls_tract_weights_open(&weights, o->weights, job, in, true);
    if (!status) status = gls_tract_open(job, in, false, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    options.mapping = o->like == LIKE_MRTRIX ? GLS_DENSITY_MRTRIX : (gls_density_mapping)o->mapping;
    if (o->like == LIKE_DIPY) options.mapping = GLS_DENSITY_VERTEX;
    options.weights = weights.column;
    options.sum_weights = weights.most * (double)weights.n;
    if (!status) status = choose_grid(o, in, info, &grid);
    if (!status && options.mapping == GLS_DENSITY_MRTRIX)
        status = choose_upsampling(o, in, info, &grid, &options.upsample);
    if (!status) status = gls_density_create(&grid, &options, density);
    if (!status) {
        sink = gls_density_sink(*density);
        status = gls_tract_weights_sink(&weights, &sink);
    }
    status = gls_tract_pump(job, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    gls_tract_weights_close(&weights);
    return status;
}

gls_status gls_tract_density(gls_tract_job *job, const void *options, const char *const *file, size_t n)
{
    const gls_density_cli *o = options;
    const char *in = file[0], *out = file[n - 1];
    gls_density *density = NULL;
    if (o->like && o->mapping) return gls_fail(GLS_ERR_ARGUMENT, "--like and --mapping exclude each other");
    if (o->step_size > 0 && o->like != LIKE_MRTRIX && o->mapping != GLS_DENSITY_MRTRIX)
        return gls_fail(GLS_ERR_ARGUMENT, "--step-size: only --mapping mrtrix has it");
    gls_status status = gls_image_name_check(out);
    const char *const inputs[] = {in, o->template_image, gls_tract_weights_file(o->weights), job->options.reference};
    for (int k = 0; k < 4 && !status; k++) status = gls_tract_job_reads(job, inputs[k]);
    if (!status) status = gls_tract_job_writes(job, out);
    if (!status) status = map(job, o, in, &density);
    if (!status) status = gls_density_write_grouped(density, out, job->options.force, &job->group);
    if (!status) {
        gls_density_counts c = gls_density_get_counts(density);
        gls_tract_job_count(job, "read", c.streamlines);
        gls_tract_job_count(job, "used", c.used);
        gls_tract_job_count(job, "without_points", c.empty);
        gls_tract_job_count(job, "partly_outside", c.partial);
        if (c.used < c.streamlines - c.empty)
            gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " of %" PRIu64 " streamlines lie outside the map", in,
                    c.streamlines - c.empty - c.used, c.streamlines);
        gls_tract_job_say(job, "%s: %" PRIu64 " streamlines, %" PRIu64 " of them partly outside", out, c.used,
                          c.partial);
    }
    gls_density_destroy(density);
    return status;
}
