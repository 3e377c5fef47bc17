/* All units of a data set, or some of them: listed, or tracked one after the other, with a table of what became of
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/output.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/dataset.h"

gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard)
{
    char *end;
    *choice = (gls_dataset_choice){.unit = unit, .index = 1, .count = 1};
    if (!shard) return GLS_OK;
    choice->index = strtoul(shard, &end, 10);
    if (*end == '/') choice->count = strtoul(end + 1, &end, 10);
    if (*end || choice->index < 1 || choice->count < 1 || choice->index > choice->count)
        return gls_fail(GLS_ERR_ARGUMENT, "--shard: '%s' is not I/N with 1 <= I <= N", shard);
    return GLS_OK;
}

gls_status gls_dataset_check(const gls_dataset *dataset, const gls_dataset_choice *choice)
{
    bool found = !choice->unit;
    for (size_t i = 0; i < dataset->n && !found; i++) found = strcmp(dataset->unit[i].name, choice->unit) == 0;
    return found ? GLS_OK : gls_fail(GLS_ERR_INPUT, "--unit %s: there is none; --list prints them", choice->unit);
}

static bool is_chosen(const gls_dataset_choice *choice, const gls_dataset *dataset, size_t place)
{
    return place % choice->count + 1 == choice->index &&
           (!choice->unit || strcmp(choice->unit, dataset->unit[place].name) == 0);
}

char *gls_dataset_list(const gls_dataset *dataset, const gls_dataset_choice *choice)
{
    gls_text text = {0};
    gls_text_puts(&text, "unit\tsubject\tsession\tdwi\tmask\tregion\tproblem\n");
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        const char *region = u->region ? u->region : u->problem ? "" : "FA";
        if (!is_chosen(choice, dataset, i)) continue;
        gls_text_printf(&text, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", u->name, u->subject, u->session, u->dwi,
                        u->mask ? u->mask : "", region, u->problem ? u->problem : "");
    }
    return gls_text_take(&text);
}

/* The run cannot go on with other units, either. */
static bool is_final(gls_status status)
{
    return status == GLS_ERR_CANCELLED || status == GLS_ERR_DEVICE || status == GLS_ERR_LOST ||
           status == GLS_ERR_DEVICE_MEMORY;
}

static gls_status write_log(const gls_dataset_options *o, gls_text *rows)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/logs/units.tsv", o->output);
    if (rows->failed) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    return gls_file_write(path, true, NULL, rows->data, rows->length);
}

gls_status gls_dataset_run(const gls_dataset_options *o, const gls_dataset *dataset, const gls_dataset_choice *choice,
                           const gls_job_options *job, const gls_monitor *monitor, gls_status *worst)
{
    static const char *const names[] = {[GLS_UNIT_TRACKED] = "tracked",
                                        [GLS_UNIT_UP_TO_DATE] = "up to date",
                                        [GLS_UNIT_BUSY] = "busy",
                                        [GLS_UNIT_FAILED] = "failed"};
    size_t counts[4] = {0};
    gls_text rows = {0};
    *worst = GLS_OK;
    gls_text_puts(&rows, "unit\tstate\treason\n");
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        gls_dataset_state state;
        if (!is_chosen(choice, dataset, i)) continue;
        gls_log(GLS_LOG_INFO, "%s", u->name);
        gls_status status = gls_dataset_track(o, u, job, monitor, &state);
        counts[state]++;
        gls_text_printf(&rows, "%s\t%s\t%s\n", u->name, names[state], status ? gls_last_error() : "");
        if (status)
            gls_log(GLS_LOG_ERROR, "%s", gls_last_error());
        else
            gls_log(GLS_LOG_INFO, "%s: %s", u->name, names[state]);
        if (status && (*worst == GLS_OK || is_final(status))) *worst = status;
        if (is_final(*worst) || (*worst && choice->stop_on_error)) break;
    }
    gls_status status = choice->count == 1 && !choice->unit ? write_log(o, &rows) : GLS_OK;
    gls_text_finish(&rows);
    gls_log(GLS_LOG_INFO, "%zu tracked, %zu up to date, %zu busy elsewhere, %zu failed", counts[GLS_UNIT_TRACKED],
            counts[GLS_UNIT_UP_TO_DATE], counts[GLS_UNIT_BUSY], counts[GLS_UNIT_FAILED]);
    return status;
}
