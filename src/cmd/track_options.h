/* Options of `glslines track`: the rows of glslines/params.def. */
#ifndef GLS_CMD_TRACK_OPTIONS_H
#define GLS_CMD_TRACK_OPTIONS_H

#include "cmd/model_options.h"

typedef struct track_options {
    cmd_common common;
    model_options model;
#define GLS_PARAM(owner, group, type, field, ...) TRACK_FIELD_##owner(type, field)
#define TRACK_FIELD_TRACK(type, field) CMD_FIELD_##type field;
#define TRACK_FIELD_JOB(type, field) CMD_FIELD_##type field;
#define TRACK_FIELD_COMMAND(type, field) CMD_FIELD_##type field;
#define TRACK_FIELD_GRADIENTS(...)
#define TRACK_FIELD_MODEL(...)
#define TRACK_FIELD_BASIS(...)
#include <glslines/params.def>
#undef GLS_PARAM
} track_options;

extern const cmd_option track_option_table[];

void track_options_default(void *values);

/* What the table cannot check: options that exclude each other. Settles the direction getter where none was given and
 * draws random seeds. Returns an exit code, the message printed. */
int track_options_check(const cmd_command *command, track_options *options, const cmd_arguments *arguments);

/* The same for the library; strings are borrowed. */
gls_job_options track_options_job(const track_options *options, const cmd_arguments *arguments);

#endif
