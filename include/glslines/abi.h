/* The layout of the library's structs as JSON, for bindings to other languages. */
#ifndef GLSLINES_ABI_H
#define GLSLINES_ABI_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a JSON text in UTF-8 that says where the members of the library's structs lie, so that a binding need not
 * keep offsets of its own. The text is valid as long as the library is loaded; NULL: out of memory. Any thread may call
 * this.
 *
 *     {"version": "0.2.0",
 *      "constants": {"GLS_OK": 0, ...},
 *      "structs": {"gls_grid": {"size": 176, "fields": [
 *          {"name": "dim", "type": "int32_t", "offset": 0, "size": 12}, ...]}, ...},
 *      "options": [{"name": "step-size", "group": "TRACKING", "of": "TRACK", "type": "LENGTH", "offset": 120,
 *          "size": 8, "mm_offset": 4711, "metavar": "L", "unit": null, "min": 0, "max": 100, "min_open": true,
 *          "choices": null, "help": ...}, ...]}
 *
 * structs: the structs that a binding passes to functions or gets from them. Enums have the type "int" of C; "pointer"
 * is any pointer; the number of elements of an array is the size of the field divided by the size of the type.
 * options: the parameters of `glslines track`. group: heading in its help. Offsets count from the start of
 * gls_job_options. of: the struct that has the member: TRACK is gls_job_options.track; MODEL, BASIS and GRADIENTS are
 * gls_job_options.model; JOB is gls_job_options itself; COMMAND is an option that only the program has, without offset
 * and size. type: FLAG is bool; INT int; UINT64 and SEED uint64_t; DOUBLE double; LENGTH double, in mm if the bool at
 * mm_offset is true, else in voxels; NUMBERS gls_numbers; STRINGS gls_strings; STRING const char *; CHOICE an int (a
 * bool if size is 1): the index of a word in choices, in which "|" separates words. Only a LENGTH has mm_offset.
 * metavar: what the help shows for the value; in brackets where the value may be left out, "[L=0.1]" with that which is
 * used then. min, max: null if there is no bound. min_open: min itself is not allowed. */
GLS_API const char *gls_abi_describe(void);

#ifdef __cplusplus
}
#endif
#endif
