/* Options of a model fit for all commands that fit: a command puts a model_options named model into its struct and the
 * rows of the model into its table. */
#ifndef GLS_CMD_MODEL_OPTIONS_H
#define GLS_CMD_MODEL_OPTIONS_H

#include <glslines/workflow.h>

#include "options/rows.h"

typedef struct model_options {
#define GLS_PARAM(owner, group, type, field, ...) MODEL_FIELD_##owner(type, field)
#define MODEL_FIELD_GRADIENTS(type, field) CMD_FIELD_##type field;
#define MODEL_FIELD_MODEL(type, field) CMD_FIELD_##type field;
#define MODEL_FIELD_BASIS(type, field) CMD_FIELD_##type field;
#define MODEL_FIELD_TRACK(...)
#define MODEL_FIELD_JOB(...)
#define MODEL_FIELD_COMMAND(...)
#include <glslines/params.def>
#undef GLS_PARAM
} model_options;

void model_options_set(model_options *options, const gls_model_options *from);
gls_model_options model_options_get(const model_options *options);

/* Other spellings of options of a model. */
extern const char *const model_option_aliases[];

/* What the table cannot check, from the option names that were given. Returns an exit code, the message printed. */
int model_options_check(const cmd_command *command, const model_options *options, const cmd_arguments *arguments);

/* What the manual says of the arguments DWI, BVAL and BVEC. */
#define CMD_SERIES_POSITIONALS                                                                                       \
    "DWI", "Diffusion series, NIfTI (.nii, .nii.gz) or MRtrix's .mif, 4D.", "BVAL",                                  \
        "Text file of b-values in s/mm2, a row or a column; or with - for BVEC one of rows x y z b (MRtrix); or -: " \
        "in a .mif. Default: in the header of DWI, or beside it.",                                                   \
        "BVEC",                                                                                                      \
        "Text file of gradient directions, three rows or three columns; or -, see BVAL. Default: in the header "     \
        "of DWI, or beside it."

/* --mask, in the table of a command that takes these arguments; CMD_OWNER has the field mask. */
#define CMD_MASK_OPTION                                                                        \
    CMD_OPTION("Input", STRING, mask, "mask", 0, "FILE", NULL, GLS_ANY, "made from DWI", NULL, \
               "Brain mask, in place of the argument MASK.")

/* The arguments DWI [BVAL BVEC [MASK]] PREFIX; NULL where not given. */
typedef struct model_files {
    const char *dwi, *bval, *bvec, *mask, *prefix;
} model_files;
/* mask: of --mask, or NULL. Returns an exit code, the message printed. */
int model_files_get(const cmd_command *command, const cmd_arguments *arguments, const char *mask, model_files *files);

#endif
