/* The JSON file beside a tractogram: everything needed to know how it was made. */
#ifndef GLS_CMD_TRACK_SIDECAR_H
#define GLS_CMD_TRACK_SIDECAR_H

#include <cJSON.h>

#include "cmd/track_run.h"

/* "parameters". */
void track_sidecar_add_parameters(cJSON *root, const track_run *run);

/* The text, from malloc; NULL without memory. */
char *track_sidecar_text(const track_run *run);

#endif
