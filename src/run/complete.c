/* Completes the options of a run: chooses the method by the gradient table of the series, sets the defaults of all
 * options that were not given, and refuses given options that the run would not use or that contradict each other. */
#include <glslines/workflow.h>

#include "dwi/csd_shell.h"
#include "dwi/model_options.h"
#include "dwi/series.h"
#include "gpu/devices.h"
#include "phantom/parts.h"
#include "record/inputs.h"
#include "record/method.h"
#include "record/run_params.h"
#include "util/status.h"

#include <stdlib.h>

/* Reads the header and the gradient table of the series, and selects the volumes that the run uses. A series that can
 * be read only once, such as a pipe, is refused here as by the run. */
static gls_status read_table(const gls_job_options *o, gls_series *series)
{
    char *bval = NULL, *bvec = NULL;
    gls_status status = gls_input_file_check(&(gls_input_file){.path = o->dwi});
    if (!status && !o->bval) status = gls_series_find_table(o->dwi, NULL, &bval, &bvec);
    const char *const path[] = {o->dwi, gls_table_path(bval ? bval : o->bval), gls_table_path(bvec ? bvec : o->bvec)};
    for (int i = 1; i < 3 && !status; i++) status = gls_input_file_check(&(gls_input_file){.path = path[i]});
    if (!status) status = gls_series_read(series, path, &o->model, false);
    free(bval);
    free(bvec);
    return status;
}

/* Sets one_shell. Messages, and a failure, are left to the run, which reads the table again. */
static void look_at_shells(gls_job_options *o)
{
    const gls_phantom_params phantom = gls_phantom_params_default();
    gls_series series = {.name = "built-in phantom"};
    gls_log_mute_all(true);
    gls_status status = o->phantom ? gls_phantom_gradients(&phantom, &series.gradients) : read_table(o, &series);
    if (!status && o->phantom) status = gls_series_select(&series, &o->model);
    if (!status) status = gls_csd_has_high_shell(series.gradients, &o->one_shell);
    gls_log_mute_all(false);
    gls_series_finish(&series);
}

/* Refuses given options of seeds that contradict each other or have no effect. */
static gls_status check_seeds(const gls_job_options *o, const char *const *given)
{
    static const char *const finite[] = {"seeds", "seeds-per-voxel", "seed-grid", NULL};
    const bool nseeds = gls_is_given(given, "nseeds");
    const char *name = gls_first_given(finite, given);
    if (nseeds && name)
        return gls_fail(GLS_ERR_ARGUMENT, "--nseeds and --%s exclude each other: leave out one of them", name);
    if (o->seeds && gls_is_given(given, "seed-seed"))
        return gls_fail(GLS_ERR_ARGUMENT, "--seed-seed: has no effect with --seeds FILE");
    if (o->track.select > 0 && o->shard && !nseeds && !name)
        return gls_fail(GLS_ERR_ARGUMENT, "--select with --shard: needs the number of seeds that the shards divide: "
                                          "give --nseeds, --seeds, --seeds-per-voxel or --seed-grid");
    return GLS_OK;
}

/* Refuses given options for an input that is not there, so that no option is ignored silently. */
static gls_status check_inputs(const gls_job_options *o, const gls_method *m, const char *const *given)
{
    for (const gls_option *row = gls_params; row->name; row++) {
        if (!gls_is_given(given, row->name)) continue;
        if (!o->dwi && row->owner == GLS_OF_GRADIENTS)
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs DWI, because it concerns the gradient table of the series",
                            row->name);
        if (m->given && row->owner == GLS_OF_MODEL)
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: has no effect with --%s, because no model is fitted", row->name,
                            m->given);
    }
    if (!o->dwi && !m->given && (o->mask || o->roi) && !m->masks_alone)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs DWI, or --sh, --odf, --peaks or --bedpostx",
                        o->mask ? "mask" : "roi");
    return GLS_OK;
}

/* Refuses a number of devices and a format that contradict the names of devices and of the output. */
static gls_status check_names(const gls_job_options *o, const char *const *given)
{
    GLS_REQUIRE(o->device);
    const size_t n = gls_device_set_count(o->device);
    gls_tractogram_format format;
    if (n > 1 && gls_is_given(given, "ngpus") && n != (size_t)o->ngpus)
        return gls_fail(GLS_ERR_ARGUMENT, "--ngpus %d: --device names %zu devices; leave out --ngpus", o->ngpus, n);
    if (!o->output || o->output_prefix || !gls_is_given(given, "write-method")) return GLS_OK;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (!status && format != o->format)
        status = gls_fail(GLS_ERR_ARGUMENT,
                          "--write-method: contradicts the suffix of --output %s; leave out --write-method", o->output);
    return status;
}

/* Refuses given options that a run by these options would not use. */
static gls_status check_use(const gls_job_options *o, const char *const *given)
{
    const gls_method m = gls_method_of(o);
    gls_status status = check_inputs(o, &m, given);
    for (const gls_option *row = gls_params; row->name && !status; row++) {
        if (row->owner == GLS_OF_COMMAND) continue; /* its value lies behind these options, and any run uses it */
        const bool off = row->kind == GLS_KIND_FLAG && gls_option_get_number(row, o).value == 0;
        if (!off && gls_is_given(given, row->name)) status = gls_method_require(&m, row, o);
    }
    if (!status) status = gls_model_options_check(&o->model);
    return status ? status : gls_model_require(&o->model, given);
}

/* Refuses a name that no option has, such as that of the member: its value would be lost. */
static gls_status check_given(const char *const *given)
{
    for (size_t i = 0; given && given[i]; i++)
        if (!gls_options_find(gls_params, given[i]))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "given: %s is the name of no option: take that of the command line, such as "
                            "max-angle",
                            given[i]);
    return GLS_OK;
}

gls_status gls_job_options_complete(gls_job_options *o, const char *const *given)
{
    GLS_REQUIRE(o);
    GLS_REQUIRE_SIZE(o);
    gls_status status = gls_options_check_values(gls_params, o);
    if (!status) status = check_given(given);
    if (!status) status = check_seeds(o, given);
    o->given = NULL;
    if (status) return status;
    /* a data set names the series later, which may have one shell or not: then one of the two methods has to do */
    const bool later = o->dwi && !*o->dwi && gls_default_is_of_shell(o, given);
    o->one_shell = false;
    if (!later && gls_default_is_of_shell(o, given)) look_at_shells(o);
    gls_job_options_set_defaults(o, given);
    status = check_use(o, given);
    if (status && later) {
        gls_job_options other = *o;
        other.one_shell = true;
        gls_job_options_set_defaults(&other, given);
        status = check_use(&other, given) ? check_use(o, given) : GLS_OK;
    }
    return status ? status : check_names(o, given);
}
