/* What the commands on tractograms share: options of inputs, files of weights, passes that a signal can end, sidecars.
 */
#ifndef GLS_CMD_TRACT_FILES_H
#define GLS_CMD_TRACT_FILES_H

#include <glslines/summary.h>
#include <glslines/tractogram.h>

#include "cmd/options.h"

struct cJSON;

/* How tractograms are read. */
typedef struct tract_input {
    const char *reference;
    int vtk_space;
    bool recover;
} tract_input;

/* Entries of an option table for a member of type tract_input. */
#define TRACT_INPUT_OPTIONS(owner, member)                                                                           \
    {.group = "Input",                                                                                               \
     .name = "reference",                                                                                            \
     .type = CMD_STRING,                                                                                             \
     .metavar = "IMAGE",                                                                                             \
     .offset = offsetof(owner, member.reference),                                                                    \
     .help = "Image on whose grid the streamlines lie: for TRK files without an affine, and where a grid is needed " \
             "that the tractogram does not have."},                                                                  \
        {.group = "Input",                                                                                           \
         .name = "vtk-space",                                                                                        \
         .type = CMD_CHOICE,                                                                                         \
         .choices = "stated|ras|lps",                                                                                \
         .offset = offsetof(owner, member.vtk_space),                                                                \
         .help = "Axes of VTK files; stated: as SPACE=RAS or SPACE=LPS in their second line says, files without "    \
                 "it are refused."},                                                                                 \
    {                                                                                                                \
        .group = "Input", .name = "recover", .type = CMD_FLAG, .offset = offsetof(owner, member.recover),            \
        .help = "Leave out the last streamline of a TCK file that was cut off, in place of refusing the file."       \
    }

/* The grid of an image. */
gls_status tract_grid_read(const char *path, gls_grid *grid);
/* Opens a tractogram. */
gls_status tract_open(const tract_input *input, const char *path, bool allow_invalid, gls_tractogram_reader **reader);
/* Appends all that is left in the reader to the sink; a signal ends it with GLS_ERR_CANCELLED, and a message that names
 * output, which is not written. To be used between cmd_interrupt_catch() and cmd_interrupt_release(). */
gls_status tract_pump(gls_tractogram_reader *reader, const gls_sink *sink, const char *output);

/* Numbers of a text file, one for each streamline, in lines of any length; *weights is from malloc. */
gls_status tract_weights_read(const char *path, double **weights, size_t *n);

/* What streamlines count: nothing (1 each), a file, or a column of the tractogram itself. */
typedef struct tract_weights {
    const char *column; /* under which they go with the streamlines; NULL: none */
    double *values;     /* of a file; NULL: none */
    uint64_t n;
    double most; /* largest absolute value */
} tract_weights;
/* The file that text names, NULL where it is NULL or dps:NAME. */
const char *tract_weights_file(const char *text);
/* Reads a file, or passes over the tractogram for the range of a column. */
gls_status tract_weights_open(tract_weights *weights, const char *text, const tract_input *input, const char *path);
/* A sink that gives the streamlines their weights and hands them on. */
gls_status tract_weights_sink(const tract_weights *weights, gls_sink next, gls_sink *sink);
void tract_weights_close(tract_weights *weights);

/* Checks where an output and its sidecar go; *sidecar is from malloc. inputs may have NULL entries. */
gls_status tract_output_check(const char *output, bool force, const char *const *inputs, size_t n_inputs,
                              char **sidecar);
/* A sidecar with software, command line, inputs, parameters and, unless NULL, the path of the output. */
struct cJSON *tract_sidecar_begin(const char *description, const cmd_command *command, const void *values,
                                  const cmd_arguments *arguments, const char *const *inputs, size_t n_inputs,
                                  const char *output);
/* Writes it and frees root. */
gls_status tract_sidecar_write(const char *path, bool force, struct cJSON *root);

/* What a tractogram is and, unless summary is NULL, holds. */
struct cJSON *tract_info_json(const char *path, const gls_tractogram_info *info, const gls_summary_result *summary);

#endif
