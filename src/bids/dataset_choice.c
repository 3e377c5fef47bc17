/* Chooses all or some of the units of a data set, and lists them. */
#include <string.h>
#include <unistd.h>

#include "bids/dataset.h"
#include "run/run_shards.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard)
{
    gls_shard part = {.index = 1, .count = 1};
    gls_status status = shard ? gls_shard_choose(shard, &part) : GLS_OK;
    *choice = (gls_dataset_choice){.unit = unit, .index = part.index, .count = part.count};
    return status;
}

gls_status gls_dataset_check(const gls_dataset *dataset, const gls_dataset_choice *choice)
{
    bool found = !choice->unit;
    for (size_t i = 0; i < dataset->n && !found; i++) found = strcmp(dataset->unit[i].name, choice->unit) == 0;
    return found ? GLS_OK
                 : gls_fail(GLS_ERR_INPUT, "--unit %s: there is no such unit; --list prints all", choice->unit);
}

bool gls_dataset_chosen(const gls_dataset *dataset, const gls_dataset_choice *choice, size_t place)
{
    /* a unit keeps its part whatever --unit says, so that both choices combine */
    return place % choice->count + 1 == choice->index &&
           (!choice->unit || strcmp(choice->unit, dataset->unit[place].name) == 0);
}

char *gls_dataset_list(const gls_dataset_options *options, const gls_dataset *dataset, const gls_dataset_choice *choice,
                       const gls_job_options *job)
{
    gls_text text = {0};
    gls_dataset_files files;
    gls_text_puts(&text, "unit\tsubject\tsession\tdwi\tmask\tregion\tstate\n");
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        const char *region = u->region ? u->region : u->problem ? "" : "FA";
        if (!gls_dataset_chosen(dataset, choice, i)) continue;
        gls_dataset_name(options, u, job, &files);
        /* without a look at the contents: the list must be quick */
        bool tracked = access(files.tractogram, F_OK) == 0 && access(files.sidecar, F_OK) == 0;
        const char *const field[] = {u->name,
                                     u->subject,
                                     u->session,
                                     u->dwi,
                                     u->mask ? u->mask : "",
                                     region,
                                     u->problem ? u->problem
                                     : tracked  ? "tracked"
                                                : "ready"};
        for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
            if (k > 0) gls_text_puts(&text, "\t");
            gls_field_show(&text, field[k], '\t');
        }
        gls_text_puts(&text, "\n");
    }
    return gls_text_take(&text);
}
