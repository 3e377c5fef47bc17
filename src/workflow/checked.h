/* What the check of a device found, kept in the user's cache folder: which mapping is the fastest that works, for each
 * driver and version. */
#ifndef GLS_WORKFLOW_CHECKED_H
#define GLS_WORKFLOW_CHECKED_H

#include <glslines/track.h>

struct cJSON;
typedef struct gls_checked {
    struct cJSON *root, *entry;
    char path[4096]; /* "": there is no cache folder */
} gls_checked;

/* The file, with what is known of this device forgotten. */
void gls_checked_begin(gls_checked *memory, const gls_device_info *device);
/* GLS_MAPPING_AUTO: none works. */
void gls_checked_add(gls_checked *memory, const char *variant, gls_mapping mapping);
/* Writes the file; a failure is a warning. */
void gls_checked_finish(gls_checked *memory);

/* Adds what one mapping of a variant came to, and forgets nothing else. */
void gls_checked_keep(const gls_device_info *device, const char *variant, gls_mapping mapping);

/* What a getter with a model of an order is called there: "boot4" or "boot8". */
void gls_checked_name(gls_direction_getter dg, int sh_order, char *name, size_t size);
/* The mapping that was found for such a device, GLS_MAPPING_AUTO where it was not checked. sh_order: of the model. */
gls_mapping gls_checked_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order);

#endif
