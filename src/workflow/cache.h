/* Fitted images kept from run to run (--cache-dir): a NIfTI file and a JSON file that says from what it was made. Their
 * names have a hash of that, so that fits of other data and parameters lie beside them, and nothing that is in the
 * folder is ever replaced. */
#ifndef GLS_WORKFLOW_CACHE_H
#define GLS_WORKFLOW_CACHE_H

#include <cJSON.h>

#include <glslines/image.h>

#include "workflow/series.h"

/* Makes the directory where it does not exist. */
gls_status gls_fit_cache_init(const char *directory);

/* What every fit of a series depends on, as contents and not as names of files: data, table and mask. NULL without
 * memory. */
cJSON *gls_fit_cache_key(const char *image, const gls_series *series, const gls_image *mask);
/* Further entries. Numbers stand as text, so that equal keys are equal byte by byte. */
void gls_fit_cache_key_number(cJSON *key, const char *name, double value);
void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes);

/* Where a fit with this key lies, as nii and json; from malloc, NULL: out of memory. */
char *gls_fit_cache_path(const char *directory, const char *name, const cJSON *key, const char *extension);
/* The image that was kept under this name and key, if its contents are whole; else false, and the log says why it is
 * fitted anew. */
bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image);
/* Keeps an image. A failure is a warning: the result does not depend on it. */
void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image);

#endif
