/* Whether the name of an output says what kind of file it is: a table named x.nii.gz would replace an image or be read
 * as one. The rule of an option stands in its row, as gls_option.writes. */
#ifndef GLS_RECORD_OUTPUT_NAME_H
#define GLS_RECORD_OUTPUT_NAME_H

#include <glslines/common.h>

#include "util/option.h"

/* Checks the name of a file that is given as the value of an option, or as the FILE in a value such as LABELS:FILE.
 * GLS_ERR_ARGUMENT names the option, the file and the suffixes that it may have. */
gls_status gls_output_name_check(const gls_option *option, const char *value);
/* gls_output_name_check() for all values that an option has in the struct `options`. */
gls_status gls_option_outputs_check(const gls_option *option, const void *options);

#endif
