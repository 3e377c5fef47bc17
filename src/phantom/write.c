/* Writes the files of a phantom, and describes them in words. All files get their names together, so that a full disk
 * leaves nothing behind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glslines/phantom.h>

#include "image/formats.h"
#include "phantom/parts.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_PATH 4096
#define MAX_NAME 64 /* largest length of a name: "bundles/", the name of a bundle and "_end0.nii.gz" fit */

/* Content of a file: series, b-values, b-vectors, image of floats, mask, centre line, five tissues. */
typedef enum what { DWI, BVAL, BVEC, IMAGE, LABEL, LINE, TISSUE } what;

/* A file of the phantom: its name relative to the directory, and the image or bundle that the file holds. */
typedef struct item {
    char name[MAX_NAME];
    what what;
    const gls_image *image;
    const gls_phantom_bundle *bundle;
} item;

/* The list of files; item is from calloc. */
typedef struct writer {
    const char *directory;
    item *item;
    size_t n;
} writer;

/* Appends the file prefix + name + suffix to the list, which has room. */
static void add(writer *w, what what, const gls_image *image, const gls_phantom_bundle *bundle, const char *prefix,
                const char *name, const char *suffix)
{
    item *it = &w->item[w->n++];
    *it = (item){.what = what, .image = image, .bundle = bundle};
    snprintf(it->name, sizeof it->name, "%s%s%s", prefix, name, suffix);
}

/* Lists all files with their names and contents. */
static gls_status items_list(writer *w, const gls_phantom *p)
{
    w->item = calloc(8 + 4 * p->n_bundles, sizeof *w->item);
    if (!w->item) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's files");
    add(w, DWI, p->dwi, NULL, "", "dwi", ".nii.gz");
    add(w, BVAL, NULL, NULL, "", "dwi", ".bval");
    add(w, BVEC, NULL, NULL, "", "dwi", ".bvec");
    add(w, LABEL, p->mask, NULL, "", "mask", ".nii.gz");
    add(w, LABEL, p->roi, NULL, "", "roi", ".nii.gz");
    add(w, IMAGE, p->tissue, NULL, "", "tissue", ".nii.gz");
    add(w, TISSUE, p->tissue, NULL, "", "5tt", ".nii.gz");
    if (p->peaks) add(w, IMAGE, p->peaks, NULL, "", "peaks", ".nii.gz");
    for (size_t i = 0; i < p->n_bundles; i++) {
        const gls_phantom_bundle *b = &p->bundle[i];
        add(w, LABEL, b->mask, b, "bundles/", b->name, ".nii.gz");
        add(w, LABEL, b->ends[0], b, "bundles/", b->name, "_end0.nii.gz");
        add(w, LABEL, b->ends[1], b, "bundles/", b->name, "_end1.nii.gz");
        add(w, LINE, NULL, b, "bundles/", b->name, ".txt");
    }
    return GLS_OK;
}

/* Stores folder/name in path. GLS_ERR_OUTPUT: the path would be too long. */
static gls_status path_join(char path[MAX_PATH], const char *folder, const char *name)
{
    int n = snprintf(path, MAX_PATH, "%s/%s", folder, name);
    if (n < 0 || n >= MAX_PATH)
        return gls_fail(
            GLS_ERR_OUTPUT,
            "%s: the paths of the files in this directory would be too long: choose a directory with a shorter path",
            folder);
    return GLS_OK;
}

/* Checks the path of each file before anything is written. GLS_ERR_OUTPUT: for example, a file exists already and must
 * not be overwritten. */
static gls_status targets_check(const writer *w, bool overwrite)
{
    char path[MAX_PATH];
    gls_status status = GLS_OK;
    for (size_t i = 0; i < w->n && !status; i++) {
        status = path_join(path, w->directory, w->item[i].name);
        if (!status) status = gls_output_check(path, overwrite, NULL, 0);
    }
    return status;
}

void gls_phantom_print_bvals(const gls_phantom *phantom, gls_text *text)
{
    const gls_gradients *g = phantom->gradients;
    for (size_t i = 0; i < g->n; i++) gls_text_printf(text, "%s%.10g", i ? " " : "", g->bval[i]);
    gls_text_puts(text, "\n");
}

void gls_phantom_print_bvecs(const gls_phantom *phantom, gls_text *text)
{
    const gls_gradients *g = phantom->gradients;
    bool flip = gls_grid_determinant(&phantom->dwi->grid) > 0;
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < g->n; i++) {
            double v = k == 0 && flip ? -g->bvec[i][k] : g->bvec[i][k];
            gls_text_printf(text, "%s%.9f", i ? " " : "", v + 0.0); /* adding 0.0 turns -0 into 0 */
        }
        gls_text_puts(text, "\n");
    }
}

/* Writes b-values, b-vectors, or the centre line of a bundle in world mm. */
static gls_status text_write(const char *path, bool overwrite, gls_output_group *group, const item *it,
                             const gls_phantom *p)
{
    gls_text text = {0};
    if (it->what == BVAL) gls_phantom_print_bvals(p, &text);
    if (it->what == BVEC) gls_phantom_print_bvecs(p, &text);
    for (size_t i = 0; it->what == LINE && i < it->bundle->n_points; i++) {
        const double *c = it->bundle->centre_line[i];
        gls_text_printf(&text, "%.4f %.4f %.4f\n", c[0], c[1], c[2]);
    }
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Writes the phantom's three tissues as the five of MRtrix3, for anatomically constrained tracking. */
static gls_status tissue_write(const char *path, bool overwrite, gls_output_group *group, const gls_phantom *p)
{
    gls_image *image = NULL;
    gls_status status = gls_phantom_five_tissues(p, &image);
    if (!status) status = gls_image_write_grouped(path, overwrite, group, image, GLS_IMAGE_FLOAT32);
    gls_image_destroy(image);
    return status;
}

/* Writes all files of the phantom into a group, which the caller commits. */
static gls_status items_write(const writer *w, const gls_phantom *p, bool overwrite, gls_output_group *group)
{
    char path[MAX_PATH];
    for (size_t i = 0; i < w->n; i++) {
        const item *it = &w->item[i];
        gls_status status = path_join(path, w->directory, it->name);
        if (status) return status;
        switch (it->what) {
        case DWI: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_INT16); break;
        case IMAGE: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_FLOAT32); break;
        case LABEL: status = gls_image_write_grouped(path, overwrite, group, it->image, GLS_IMAGE_UINT8); break;
        case TISSUE: status = tissue_write(path, overwrite, group, p); break;
        case BVAL:
        case BVEC:
        case LINE: status = text_write(path, overwrite, group, it, p); break;
        }
        if (status) return status;
    }
    return GLS_OK;
}

/* Makes a directory, if there is none. *made: whether the directory is new, so that a failure can remove it. */
static gls_status folder_make(const char *path, bool *made)
{
    struct stat info;
    *made = !mkdir(path, 0777);
    if (*made) return GLS_OK;
    int reason = errno;
    if (reason == EEXIST && !stat(path, &info)) {
        if (S_ISDIR(info.st_mode)) return GLS_OK;
        reason = ENOTDIR;
    }
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot make the directory: %s", path, strerror(reason));
}

/* Whether a bundle, which a caller may have made itself, has all parts that are written. */
static bool bundle_is_whole(const gls_phantom_bundle *b)
{
    return b->mask && b->ends[0] && b->ends[1] && (b->centre_line || b->n_points == 0);
}

gls_status gls_phantom_write(const gls_phantom *phantom, const char *directory, gls_existing existing)
{
    bool overwrite = existing == GLS_EXISTING_REPLACE;
    GLS_REQUIRE(phantom && directory && directory[0]);
    GLS_REQUIRE(phantom->dwi && phantom->gradients && phantom->mask && phantom->roi && phantom->tissue);
    GLS_REQUIRE(phantom->bundle || phantom->n_bundles == 0);
    for (size_t b = 0; b < phantom->n_bundles; b++) GLS_REQUIRE(bundle_is_whole(&phantom->bundle[b]));
    writer w = {.directory = directory};
    gls_output_group group = {0};
    bool new_root = false, new_bundles = false;
    char path[MAX_PATH] = "";
    gls_status status = items_list(&w, phantom);
    if (!status) status = targets_check(&w, overwrite);
    if (!status) status = folder_make(directory, &new_root);
    if (!status) status = path_join(path, directory, "bundles");
    if (!status && phantom->n_bundles) status = folder_make(path, &new_bundles);
    if (!status) status = items_write(&w, phantom, overwrite, &group);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    if (status && new_bundles) rmdir(path);
    if (status && new_root) rmdir(directory);
    free(w.item);
    return status;
}

/* --- The description of the files, for people. */

/* Number of voxels above 0. */
static uint64_t count_voxels(const gls_image *image)
{
    uint64_t count = 0;
    size_t n = gls_grid_voxels(&image->grid);
    for (size_t i = 0; i < n; i++) count += image->data[i] > 0;
    return count;
}

char *gls_phantom_text(const gls_phantom *phantom, const char *folder)
{
    gls_text out = {0}, shown = {0};
    gls_text_show(&shown, folder);
    char *directory = gls_text_take(&shown);
    if (!directory) return NULL;
    const gls_grid *grid = &phantom->dwi->grid;
    char axes[4], text[32];
    gls_grid_axis_codes(grid, axes);
    gls_text_printf(
        &out, "%s/dwi.nii.gz     %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes, %zu of them b0\n",
        directory, grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1],
        grid->voxel_size[2], axes, phantom->dwi->n_volumes, phantom->gradients->n_b0);
    gls_text_printf(&out, "%s/dwi.bval       b-values\n%s/dwi.bvec       directions, FSL's rule\n", directory,
                    directory);
    gls_text_printf(&out, "%s/mask.nii.gz    brain, %s voxels\n", directory,
                    gls_format_count(count_voxels(phantom->mask), text, sizeof text));
    gls_text_printf(&out, "%s/roi.nii.gz     white matter, %s voxels\n", directory,
                    gls_format_count(count_voxels(phantom->roi), text, sizeof text));
    gls_text_printf(&out, "%s/tissue.nii.gz  volume fractions of white matter, grey matter and CSF\n", directory);
    gls_text_printf(&out, "%s/5tt.nii.gz     the same as five tissues, for --act of 'glslines track'\n", directory);
    gls_text_printf(
        &out, "%s/peaks.nii.gz   the three largest fibre populations of each voxel: direction and volume fraction\n",
        directory);
    gls_text_printf(
        &out,
        "%s/bundles        %zu bundles: NAME.nii.gz, their ends NAME_end0.nii.gz and NAME_end1.nii.gz, centre lines "
        "NAME.txt (world mm)\n",
        directory, phantom->n_bundles);
    for (size_t i = 0; i < phantom->n_bundles; i++)
        gls_text_printf(&out, "    %-28s %8s voxels\n", phantom->bundle[i].name,
                        gls_format_count(count_voxels(phantom->bundle[i].mask), text, sizeof text));
    gls_text_printf(
        &out, "Track it with: glslines track %s/dwi.nii.gz %s/dwi.bval %s/dwi.bvec %s/mask.nii.gz %s/roi.nii.gz\n",
        directory, directory, directory, directory, directory);
    free(directory);
    return gls_text_take(&out);
}
