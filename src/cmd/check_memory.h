/* What the check of a device found, kept in the user's cache folder: which mapping is the fastest that works, for each
 * driver and version. */
#ifndef GLS_CMD_CHECK_MEMORY_H
#define GLS_CMD_CHECK_MEMORY_H

#include <glslines/track.h>

struct cJSON;
typedef struct check_memory {
    struct cJSON *root, *entry;
    char path[4096]; /* "": there is no cache folder */
} check_memory;

/* The file, with what is known of this device forgotten. */
void check_memory_begin(check_memory *memory, const gls_device_info *device);
/* GLS_MAPPING_AUTO: none works. */
void check_memory_add(check_memory *memory, const char *variant, gls_mapping mapping);
/* Writes the file; a failure is a warning. */
void check_memory_finish(check_memory *memory);

/* The mapping that was found for such a device, GLS_MAPPING_AUTO where it was not checked. sh_order: of the model. */
gls_mapping check_memory_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order);

#endif
