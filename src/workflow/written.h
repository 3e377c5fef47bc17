/* Files that a run wrote, as its sidecar tells them to later runs: their size and a checksum of what is in them. */
#ifndef GLS_WORKFLOW_WRITTEN_H
#define GLS_WORKFLOW_WRITTEN_H

#include <cJSON.h>

#include "util/output_file.h"

/* Adds size and checksum to an entry: "xxh3_64", or of a large file "xxh3_64_of_parts", which tells files of two runs
 * apart and takes no time. GLS_ERR_INPUT: it cannot be read. */
gls_status gls_written_note(cJSON *entry, const char *path);
/* The same of an output that is complete and has not got its name yet. */
gls_status gls_written_note_output(cJSON *entry, const gls_output *output);
/* Whether the file at path is the one that was noted: a regular file of this size and checksum. An entry that has the
 * time of its last change, too ("modified"), needs no checksum where that is the same. */
bool gls_written_is(const cJSON *entry, const char *path);
/* Adds the time of the last change of a file that has its name. */
gls_status gls_written_note_time(cJSON *entry, const char *path);

#endif
