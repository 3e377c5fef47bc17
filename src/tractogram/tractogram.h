/* Writes tractograms: chooses the format, checks streamlines, defines columns and groups, completes the file. */
#ifndef GLS_TRACTOGRAM_TRACTOGRAM_H
#define GLS_TRACTOGRAM_TRACTOGRAM_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

#include "util/output_file.h"

/* Whether the suffix of a name is that of a tractogram. */
bool gls_tractogram_is_name(const char *path);
/* Makes gls_tractogram_writer_finish() leave the file to a group of outputs, which gives the file its name later. */
void gls_writer_join(gls_tractogram_writer *writer, gls_output_group *group);
/* TRX: adds a group of n streamlines. member: their indices in the file, ascending. name and member are borrowed until
 * the writer is finished. Other formats do not store the group. */
gls_status gls_writer_add_group(gls_tractogram_writer *writer, const char *name, const uint32_t *member, size_t n);
/* TRX: adds a JSON file about a column; readers ignore the file. Both texts are borrowed until the writer is
 * finished. */
void gls_writer_note(gls_tractogram_writer *writer, const char *name, const char *text);

#endif
