/* What the command line makes of rows, those of glslines/params.def and the files that workflow/rows.h tells of: fields
 * of a command's struct, entries of its table, and copies to and from the options of the library. */
#ifndef GLS_OPTIONS_ROWS_H
#define GLS_OPTIONS_ROWS_H

#include "options/options.h"
#include "workflow/rows.h"

/* The field of a command for each type. */
#define CMD_FIELD_FLAG bool
#define CMD_FIELD_INT int
#define CMD_FIELD_UINT64 uint64_t
#define CMD_FIELD_SEED cmd_seed
#define CMD_FIELD_DOUBLE double
#define CMD_FIELD_LENGTH cmd_length
#define CMD_FIELD_NUMBERS cmd_numbers
#define CMD_FIELD_STRINGS gls_strings
#define CMD_FIELD_STRING const char *
#define CMD_FIELD_CHOICE int

/* A range has three members; GLS_VALUES and GLS_LIKE give the others. */
#define CMD_RANGE(...) CMD_RANGE_OF(__VA_ARGS__, 1, CMD_MAX_NUMBERS, false, NULL, )
#define CMD_RANGE_OF(low, high, open, least, most, whole, like_, ...) \
    .min = low, .max = high, .min_open = open, .min_values = least, .max_values = most, .integral = whole, .like = like_

#define CMD_ITEM(group_, type_, offset_, name_, letter_, metavar_, unit_, range_, default_text_, choices_, help_)   \
    {                                                                                                               \
        .group = group_, .name = name_, .letter = letter_, .type = CMD_##type_, .metavar = metavar_, .unit = unit_, \
        CMD_RANGE range_, .choices = choices_, .offset = offset_, .default_text = default_text_, .help = help_      \
    }
#define CMD_ENTRY(...) CMD_ITEM(__VA_ARGS__),

/* An option in a table: CMD_OWNER is the struct of the command's values. */
#define CMD_OPTION(group, type, field, ...) CMD_ITEM(group, type, offsetof(CMD_OWNER, field), __VA_ARGS__)
/* The same from a row in a file that the table includes. */
#define CMD_ROW(group, type, field, name, letter, metavar, unit, range, default_, ...) \
    CMD_OPTION(group, type, field, name, letter, metavar, unit, range, __VA_ARGS__),
/* The field of a row, and its initial value: GLS_ROW_DEFAULT is the latter. */
#define CMD_ROW_FIELD(group, type, field, ...) CMD_FIELD_##type field;

/* From the field of a command to that of the library; is_mm: whether the library's length is in mm. */
#define CMD_GET_FLAG(to, is_mm, from) to = from;
#define CMD_GET_INT(to, is_mm, from) to = from;
#define CMD_GET_UINT64(to, is_mm, from) to = from;
#define CMD_GET_SEED(to, is_mm, from) to = from.value;
#define CMD_GET_DOUBLE(to, is_mm, from) to = from;
#define CMD_GET_LENGTH(to, is_mm, from) to = from.value, is_mm = from.mm;
#define CMD_GET_NUMBERS(to, is_mm, from) to = from;
#define CMD_GET_STRINGS(to, is_mm, from) to = from;
#define CMD_GET_STRING(to, is_mm, from) to = from;
#define CMD_GET_CHOICE(to, is_mm, from) to = from;

/* And back. */
#define CMD_SET_FLAG(from, is_mm, to) to = from;
#define CMD_SET_INT(from, is_mm, to) to = from;
#define CMD_SET_UINT64(from, is_mm, to) to = from;
#define CMD_SET_SEED(from, is_mm, to) to = (cmd_seed){from, false};
#define CMD_SET_DOUBLE(from, is_mm, to) to = from;
#define CMD_SET_LENGTH(from, is_mm, to) to = (cmd_length){from, is_mm};
#define CMD_SET_NUMBERS(from, is_mm, to) to = from;
#define CMD_SET_STRINGS(from, is_mm, to) to = from;
#define CMD_SET_STRING(from, is_mm, to) to = from;
#define CMD_SET_CHOICE(from, is_mm, to) to = (int)from;

#endif
