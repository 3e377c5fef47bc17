/* Parses a command line into the values of a command, by its table of options. */
#ifndef GLS_OPTIONS_PARSER_H
#define GLS_OPTIONS_PARSER_H

#include "options/options.h"

/* Parses argv[first ...] into values and arguments. On failure writes one line, without a line end, to error and
 * returns false. */
bool cmd_options_parse(const cmd_command *command, int argc, char **argv, int first, void *values,
                       cmd_arguments *arguments, char *error, size_t error_size);
/* Logs the warnings about the command line and, without --quiet, what words of other programs were taken for. */
void cmd_options_log(const cmd_arguments *arguments);

#endif
