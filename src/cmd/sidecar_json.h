/* Parts of the sidecar that are known before tracking, and numbers that JSON readers get back exactly. */
#ifndef GLS_CMD_SIDECAR_JSON_H
#define GLS_CMD_SIDECAR_JSON_H

#include <cJSON.h>

#include "cmd/track_run.h"

/* The shortest decimal that reads back as the same double; null where it is not finite. */
void json_double(cJSON *object, const char *key, double v);
/* A number up to 2^53, which every reader holds exactly; a string above. */
void json_uint(cJSON *object, const char *key, uint64_t v);

void sidecar_add_description(cJSON *root, const track_run *run);
void sidecar_add_inputs(cJSON *root, const track_run *run);
void sidecar_add_parameters(cJSON *root, const track_run *run);

#endif
