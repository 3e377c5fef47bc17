/* Any bytes behind a digit as the file of a data set that it stands for: description, filters, table of
 * labels, profiles of a participant, sidecar of a tractogram: an error or what data sets are made of, never a crash. */
#include "bids/dataset_describe.h"
#include "bids/dataset_find.h"
#include "bids/dataset_group.h"
#include "bids/dataset_profiles.h"
#include "bids/dataset_select.h"
#include "folder.h"
#include "bids/dataset.h"

#define TABLE "tractID,nodeID,dti_fa\nCST_L,0,0.5\n"

static void read_filters(const char *path)
{
    gls_strings filters = {.n = 0};
    fuzz_ok(gls_dataset_filters_read(path, &filters));
    for (int i = 0; i < filters.n; i++) {
        if (!strchr(filters.value[i], '=')) abort();
        free((char *)filters.value[i]);
    }
}

static void read_labels(const fuzz_folder *folder)
{
    gls_bids_labels labels;
    if (fuzz_ok(gls_bids_white_matter(fuzz_folder_name(folder, "in"), "sub-01/anat", "sub-01_dseg.nii.gz", &labels)) &&
        (labels.n < 0 || labels.n > GLS_BIDS_MAX_LABELS))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"in/dataset_description.json", "filters.json", "in/dseg.tsv",
                                        "out/sub-01/sub-01_desc-profiles_tractography.csv",
                                        "out/sub-01/dwi/sub-01_tractogram.json"};
    const int kind = bytes > 0 ? data[0] - '0' : -1;
    if (kind < 0 || kind >= (int)(sizeof names / sizeof *names)) return 0;
    fuzz_folder folder = fuzz_folder_make();
    char input[64], output[64];
    snprintf(input, sizeof input, "%s", fuzz_folder_name(&folder, "in"));
    snprintf(output, sizeof output, "%s", fuzz_folder_name(&folder, "out"));
    gls_job_options job = {0};
    gls_dataset_options options = {.input = input, .output = output, .job = &job};
    gls_dataset dataset = {.n = 0};
    size_t n = 0;
    mkdir(input, 0700);
    mkdir(output, 0700);
    const char *path = fuzz_folder_put(&folder, names[kind], data + 1, bytes - 1);
    if (kind == 0) {
        fuzz_folder_put(&folder, "out/dataset_description.json", data + 1, bytes - 1);
        if (fuzz_ok(gls_dataset_open(&options, &dataset))) abort(); /* there is no series in it */
        fuzz_ok(gls_dataset_describe(&options));
    } else if (kind == 1) {
        read_filters(path);
    } else if (kind == 2) {
        read_labels(&folder);
    } else if (kind == 3) {
        fuzz_folder_put(&folder, "out/sub-02/sub-02_desc-profiles_tractography.csv", TABLE, sizeof TABLE - 1);
        if (fuzz_ok(gls_dataset_profiles(&options, &n)) && n != 2) abort();
    } else {
        if (fuzz_ok(gls_dataset_group(&options, &n)) && n != 1) abort();
    }
    fuzz_folder_remove(&folder);
    return 0;
}
