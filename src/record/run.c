/* The files of one run of a command: no output is an input, and all outputs appear together or none does. */
#include "record/run.h"

#include <cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/grid.h"
#include "image/image_write.h"
#include "record/sidecar.h"
#include "util/allocation.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/text.h"

void gls_run_begin(gls_run *run, bool force)
{
    *run = (gls_run){.force = force, .begun = gls_clock_seconds()};
    gls_warnings_begin(&run->warnings);
}

void gls_run_end(gls_run *run)
{
    gls_output_group_discard(&run->group);
    gls_warnings_end(&run->warnings);
    gls_inputs_finish(&run->inputs);
    for (size_t i = 0; i < run->n_outputs; i++) free(run->output[i]);
    free(run->output);
    free(run->sidecar);
    *run = (gls_run){.n_outputs = 0};
}

/* --- Inputs. */

gls_status gls_run_reads(gls_run *run, const char *text)
{
    return gls_run_reads_all(run, &text, 1);
}

/* Compares the inputs with outputs that were added before. */
static gls_status check_outputs(const gls_run *run, gls_status status)
{
    for (size_t i = 0; i < run->n_outputs && !status; i++) status = gls_inputs_check(&run->inputs, run->output[i]);
    return status;
}

gls_status gls_run_reads_all(gls_run *run, const char *const *text, size_t n)
{
    return check_outputs(run, gls_inputs_add_all(&run->inputs, text, n));
}

gls_status gls_run_reads_chain(gls_run *run, const gls_strings *chain)
{
    return check_outputs(run, gls_inputs_add_chain(&run->inputs, chain));
}

/* --- Outputs. */

gls_status gls_place_check(const char *path, bool force, const gls_inputs *inputs, const char *const *others,
                           size_t n_others)
{
    struct stat info;
    gls_status status = gls_inputs_check(inputs, path);
    if (status) return status;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(EISDIR));
        if (!force) return gls_fail(GLS_ERR_OUTPUT, "%s: exists already; --force overwrites it", path);
    } else if (errno != ENOENT) {
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
    }
    /* a new file can be made if its folder is writable */
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!directory) return gls_no_memory();
    if (stat(directory, &info) != 0 || access(directory, W_OK | X_OK) != 0)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s: %s", path, directory, strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s: %s", path, directory, strerror(ENOTDIR));
    free(directory);
    return status ? status : gls_output_check(path, true, others, n_others);
}

/* Checks the path and adds it to the outputs. Takes ownership of path, after a failure too. path NULL: no memory. */
static gls_status add_output(gls_run *run, char *path, bool force)
{
    if (!path) return gls_no_memory();
    gls_status status = gls_place_check(path, force, &run->inputs, (const char *const *)run->output, run->n_outputs);
    if (!status && !gls_list_reserve(&run->output, run->n_outputs, &run->capacity, 16, sizeof *run->output))
        status = gls_no_memory();
    if (status)
        free(path);
    else
        run->output[run->n_outputs++] = path;
    return status;
}

char *gls_shard_name(const char *path, const gls_shard *shard)
{
    const char *name = gls_file_name(path), *dot = strrchr(name, '.');
    if (gls_image_is_output(name)) dot = path + gls_image_stem(path);
    if (!dot || dot == name) dot = name + strlen(name);
    char *text = NULL;
    if (gls_asprintf(&text, "%.*s_shard-%uof%u%s", (int)(dot - path), path, shard->index, shard->count, dot) < 0)
        return NULL;
    return text;
}

gls_status gls_run_writes(gls_run *run, const char *path)
{
    return path ? add_output(run, strdup(path), run->force) : GLS_OK;
}

gls_status gls_run_rewrites(gls_run *run, const char *path)
{
    return path ? add_output(run, strdup(path), true) : GLS_OK;
}

gls_status gls_run_join(const char *prefix, const char *suffix, char **name)
{
    static const char image[] = ".nii.gz";
    const char *beginning = gls_file_name(prefix);
    if (!beginning[strspn(beginning, ".")])
        return gls_fail(GLS_ERR_ARGUMENT,
                        "\"%s\": the names of the files need a beginning after the folder, such as %s%ssub-01", prefix,
                        prefix, *beginning ? "/" : "");
    const size_t stem = gls_image_is_output(prefix) ? gls_image_stem(prefix) : strlen(prefix);
    size_t n = strlen(suffix);
    const bool other = prefix[stem] && gls_case_ends(suffix, image);
    if (other) n -= sizeof image - 1;
    if (gls_asprintf(name, "%.*s%.*s%s", (int)stem, prefix, (int)n, suffix, other ? prefix + stem : "") >= 0)
        return GLS_OK;
    return gls_no_memory();
}

gls_status gls_run_writes_named(gls_run *run, const char *prefix, const char *suffix, const char **path)
{
    char *name = NULL;
    gls_status status = gls_run_join(prefix, suffix, &name);
    if (!status) status = add_output(run, name, run->force);
    *path = status ? NULL : run->output[run->n_outputs - 1];
    return status;
}

gls_status gls_run_writes_sidecar(gls_run *run, const char *prefix, const char *suffix)
{
    gls_status status = gls_run_join(prefix, suffix, &run->sidecar);
    /* a sidecar is checked even with force: a JSON file of another program must stay */
    if (!status) status = gls_inputs_check(&run->inputs, run->sidecar);
    if (!status) status = gls_sidecar_check(run->sidecar, (const char *const *)run->output, run->n_outputs);
    return status ? status : gls_run_writes(run, run->sidecar);
}

gls_status gls_run_commit(gls_run *run, cJSON *root)
{
    gls_status status = GLS_OK;
    if (run->sidecar && root) {
        gls_sidecar_add_warnings(root, &run->warnings);
        status = gls_json_write(root, run->sidecar, run->force, &run->group, "\n");
    }
    if (!status && run->leads) gls_output_group_lead(&run->group);
    return status ? status : gls_output_group_commit(&run->group);
}

void gls_run_log_outputs(const gls_run *run)
{
    for (size_t i = 0; i < run->n_outputs; i++) gls_log(GLS_LOG_INFO, "output       %s", run->output[i]);
}
