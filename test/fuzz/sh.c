/* Any bytes as an image of spherical harmonics: an error or ODFs, fixels and coefficients of another basis, never a
 * crash. */
#include <glslines/fixels.h>
#include <glslines/odf.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_image *sh = NULL, *odf = NULL;
    gls_odf_source *source = NULL;
    gls_fixels *fixels = NULL;
    static gls_sphere *sphere;
    if (!sphere && gls_sphere_create("small", &sphere) != GLS_OK) abort();
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_image_read(path, GLS_IMAGE_ANY, &sh)) && gls_grid_voxels(&sh->grid) <= 512 &&
        sh->n_volumes <= 196) {
        if (fuzz_ok(gls_odf_source_create_sh(sh, "sh", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, NULL, &source))) {
            if (fuzz_ok(gls_odf_sample(source, &odf))) gls_image_destroy(odf);
            gls_odf_source_destroy(source);
        }
        if (fuzz_ok(gls_fixels_create(sh, "sh", NULL, NULL, &fixels))) gls_fixels_destroy(fixels);
    }
    gls_image_destroy(sh);
    close(fd);
    return 0;
}
