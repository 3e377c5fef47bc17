/* Members of option structs from the rows of params.def: a header defines GLS_PARAM as GLS_FIELD_##type(field) for the
 * rows that it wants. */
#ifndef GLSLINES_PARAMS_FIELDS_H
#define GLSLINES_PARAMS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of an option that takes several. */
#define GLS_MAX_NUMBERS 8
typedef struct gls_numbers {
    double value[GLS_MAX_NUMBERS];
    int n;
} gls_numbers;

/* Values of an option that may be repeated. */
#define GLS_MAX_STRINGS 64
typedef struct gls_strings {
    const char *value[GLS_MAX_STRINGS];
    int n;
} gls_strings;

#define GLS_FIELD_FLAG(field) bool field;
#define GLS_FIELD_INT(field) int field;
#define GLS_FIELD_UINT64(field) uint64_t field;
#define GLS_FIELD_SEED(field) uint64_t field;
#define GLS_FIELD_DOUBLE(field) double field;
#define GLS_FIELD_LENGTH(field) double field;
#define GLS_FIELD_STRING(field) const char *field;
#define GLS_FIELD_STRINGS(field) gls_strings field;
#define GLS_FIELD_NUMBERS(field) gls_numbers field;
/* For a choice the header names the enum, as GLS_CHOICE_ and the field. */
#define GLS_FIELD_CHOICE(field) GLS_CHOICE_##field field;
/* The member that says whether a length is in mm; other types have none. */
#define GLS_IN_MM_LENGTH(field) bool field;
#define GLS_IN_MM_FLAG(field)
#define GLS_IN_MM_INT(field)
#define GLS_IN_MM_UINT64(field)
#define GLS_IN_MM_SEED(field)
#define GLS_IN_MM_DOUBLE(field)
#define GLS_IN_MM_STRING(field)
#define GLS_IN_MM_STRINGS(field)
#define GLS_IN_MM_NUMBERS(field)
#define GLS_IN_MM_CHOICE(field)

#endif
