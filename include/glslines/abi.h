/* The layout of the library's structs as JSON, for bindings to other languages. */
#ifndef GLSLINES_ABI_H
#define GLSLINES_ABI_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* JSON, UTF-8, that a binding reads once in place of keeping offsets by hand. Valid as long as the library is loaded;
 * NULL without memory. Any thread.
 *
 *     {"version": "0.1.0",
 *      "constants": {"GLS_OK": 0, ...},
 *      "structs": {"gls_grid": {"size": 176, "fields": [
 *          {"name": "dim", "type": "int32_t", "offset": 0, "size": 12}, ...]}, ...},
 *      "options": [{"name": "step-size", "group": "TRACKING", "of": "TRACK", "type": "LENGTH", "offset": 120,
 *          "mm_offset": 4711, "unit": null, "min": 0, "max": 100, "min_open": true, "choices": null, "help": ...},
 * ...]}
 *
 * structs: those that a binding passes or gets. Enums have the type "int" of C; "pointer" is any pointer; the number of
 * elements of an array is its size divided by that of its type.
 * options: the parameters of `glslines track` as members of gls_job_options, offsets from its start. of: TRACK means a
 * member of gls_job_options.track, MODEL, BASIS and GRADIENTS of .model, JOB of itself, COMMAND none: an option of the
 * program alone, which has no offset. type: FLAG bool; INT int;
 * UINT64 and SEED uint64_t; DOUBLE double; LENGTH double, in mm if the bool at mm_offset is true, else in voxels;
 * NUMBERS gls_numbers; STRINGS gls_strings; STRING const char *; CHOICE an int, the place of a word in choices, which
 * "|" separates (or a bool: size tells). min, max: null if there is no bound. */
GLS_API const char *gls_abi_describe(void);

#ifdef __cplusplus
}
#endif
#endif
