/* What a phantom's files hold, in words. */
#include "phantom/parts.h"

#include <stdlib.h>

#include "util/text.h"
#include "util/numbers.h"

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
