/* The cache of fits (--cache-dir): an image and a JSON note, which are used again if key and contents agree; and FA and
 * axes of tensors, which are read from the cache or fitted. */
#ifndef GLS_DWI_FIT_CACHE_H
#define GLS_DWI_FIT_CACHE_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

#include "dwi/fit_model_parts.h"

/* Fits a tensor to the volumes of gls_series_tensor_dwi(), or reads its results from the cache: FA, and unless axes is
 * NULL the main axes as gls_peaks_of_tensors() makes them. cache: a folder, or NULL. */
gls_status gls_series_model_fa(gls_series_model *model, const gls_image *mask, const char *cache,
                               const gls_monitor *monitor, gls_image **fa, gls_image **axes);
/* Checks the folder of the cache. If it does not exist: makes it, or, with `make` false, checks that it could be made.
 * GLS_ERR_OUTPUT: the folder cannot be made, or this user may not read or write it. */
gls_status gls_fit_cache_init(const char *directory, bool make);
/* Makes the key of a fit, to which the caller adds the parameters of the fit: the name of the result (`image`), the
 * version of glslines, the grid, and hashes of the volumes in use, their table and the mask. Free it by cJSON_Delete().
 * NULL: out of memory. */
cJSON *gls_fit_cache_key(const char *image, const gls_image *dwi, const gls_gradients *gradients,
                         const gls_image *mask);
/* Adds a number to the key, as text, so that equal keys are equal byte for byte. */
void gls_fit_cache_key_number(cJSON *key, const char *name, double value);
/* Adds a hash of these bytes to the key. */
void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes);
/* Path of a fit with this key. extension: "nii" or "json". From malloc; NULL: out of memory. */
char *gls_fit_cache_path(const char *directory, const char *name, const cJSON *key, const char *extension);
/* Reads the image that was kept under this name and key. Returns false, and logs why, if there is none that can be
 * used. */
bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image);
/* Keeps an image. A failure is only a warning, because the result does not depend on the cache. */
void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image);

#endif
