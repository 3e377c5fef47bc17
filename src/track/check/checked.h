/* The results of checks of devices, kept in a file of the user's cache folder: for each device with its driver, and
 * each variant (see gls_known_variant), a gls_mapping that works; GLS_MAPPING_AUTO if none does. `glslines devices
 * --check` stores the fastest mapping, the first run on an unknown renderer the first that works. */
#ifndef GLS_TRACK_CHECK_CHECKED_H
#define GLS_TRACK_CHECK_CHECKED_H

#include <glslines/track.h>

struct cJSON;
/* The file of checked devices, with the results of earlier checks. Free with gls_checked_finish(). */
typedef struct gls_checked {
    /* contents of the file; the entry of this device, borrowed from root */
    struct cJSON *root, *entry;
    char path[4096]; /* the file of results; "": there is no cache folder */
} gls_checked;

/* Reads the file into memory. Drops the results for this device, which are to be found anew. */
void gls_checked_begin(gls_checked *memory, const gls_device_info *device);
/* Adds the result for a variant: a mapping that works; GLS_MAPPING_AUTO: none works. */
void gls_checked_add(gls_checked *memory, const char *variant, gls_mapping mapping);
/* Stores in the file which mapping works for a variant. Keeps all other results. */
void gls_checked_keep(const gls_device_info *device, const char *variant, gls_mapping mapping);
/* Writes to name[size] the variant of a run: particle filtering is "pft", whatever the getter. */
void gls_checked_name(const gls_track_params *params, int sh_order, char *name, size_t size);
/* Writes the file, if there is a cache folder, and frees the results. A failure is only a warning. */
void gls_checked_finish(gls_checked *memory);

/* The stored mapping for this device and getter. GLS_MAPPING_AUTO: none is stored, or none that the device supports.
 * sh_order: order of the model's spherical harmonics. */
gls_mapping gls_checked_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order);
/* Like gls_checked_mapping(), for the parameters of a run. */
gls_mapping gls_checked_mapping_of(const gls_device_info *device, const gls_track_params *params, int sh_order);

#endif
