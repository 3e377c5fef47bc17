/* Options as rows of a table. A row says how an option is called, what it takes, what it means, and where its value
 * lies in a struct. The parser, the help, the manual and the sidecars all read these rows. */
#ifndef GLS_UTIL_OPTION_H
#define GLS_UTIL_OPTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>
#include <glslines/params_fields.h>

#include "util/numbers.h"

/* Kinds of options: the argument on the command line, and the C type of the value. */
typedef enum gls_kind {
    GLS_KIND_FLAG,    /* no argument: bool */
    GLS_KIND_COUNT,   /* no argument, may be repeated: int, the number of repetitions */
    GLS_KIND_INT,     /* int */
    GLS_KIND_UINT64,  /* uint64_t */
    GLS_KIND_SEED,    /* a number or "random": uint64_t */
    GLS_KIND_DOUBLE,  /* double */
    GLS_KIND_LENGTH,  /* a number with an optional suffix vox or mm: double, and a bool at mm_offset that is true for
                        mm */
    GLS_KIND_NUMBERS, /* several numbers, separated by blanks or commas: gls_numbers */
    GLS_KIND_STRINGS, /* one argument each time the option is given: gls_strings */
    GLS_KIND_STRING,  /* const char *, NULL if not given */
    GLS_KIND_CHOICE   /* one of the words of choices: an enum or int, the index of the word */
} gls_kind;

/* Kinds of files that an option writes, one bit each. The names of outputs must show their kinds, see
 * record/output_name.h. */
typedef enum gls_writes {
    GLS_WRITES_TEXT = 1,       /* a table, a list of numbers, a matrix, JSON: no suffix of another kind */
    GLS_WRITES_IMAGE = 2,      /* .nii, .nii.gz, .mif or .mif.gz */
    GLS_WRITES_TRACTOGRAM = 4, /* .trx, .trk, .tck or .vtk */
    GLS_WRITES_SCALARS = 8,    /* values along a tractogram, .tsf */
    GLS_WRITES_PICTURE = 16,   /* .png or .apng */
    GLS_WRITES_PAGE = 32,      /* .html */
    GLS_WRITES_SEVERAL = 64,   /* several files: a folder, or the beginning of their names; any name */
    GLS_WRITES_OR_NONE = 128   /* besides, the word none: no file */
} gls_writes;

/* A row of a table of options. Texts are constants; rows are never changed, only copied. */
typedef struct gls_option {
    const char *group; /* heading in the help; options of one group stand together */
    const char *name;  /* without dashes; NULL ends a table */
    char letter;       /* short form; 0: none */
    gls_kind kind;
    /* placeholder of the argument in the help. GLS_KIND_CHOICE: NULL lists the choices; set a word if the list is too
     * long for a line. Brackets mark an optional argument: [FILE.html] gives "" without one, [L=0.1] gives 0.1,
     * [sift2|commit] of a choice gives sift2. GLS_KIND_STRINGS: "LABEL ..." takes all words up to the next option, if
     * the option stands behind the arguments */
    const char *metavar;
    const char *unit;           /* unit of range and default in the help; NULL: none */
    gls_range range;            /* valid numbers; of a length, in mm */
    int min_values, max_values; /* GLS_KIND_NUMBERS: how many numbers at least and at most */
    bool integral;              /* GLS_KIND_NUMBERS: whole numbers only */
    const char *choices;        /* GLS_KIND_CHOICE: the words, as "a|b|c" */
    /* offsets in the struct of the value and, for a length, of the bool that is true for mm. mm_offset 0: the length is
     * always in mm (gls_option_in_mm()). */
    size_t offset, mm_offset;
    const char *default_text; /* shown in place of the initial value; "" shows no default */
    const char *help;
    /* the choices with which a command has the option, as "method sift2|linear": option, words; NULL: all */
    const char *only;
    int writes; /* bits of gls_writes: what the option's value, or the FILE in it, is the name of; 0: no output */
    const char *since; /* the version that first had the option; NULL: 0.1.0, or that of the command */
    /* only in rows of glslines/params.def: a GLS_OF_... of track/track_params.h */
    unsigned owner;
    /* only in rows of glslines/params.def: a GLS_ROLE_... of track/track_params.h, and a GLS_FOR_... of
     * track/getter/param_user.h */
    int role, user;
} gls_option;

/* A length as the struct of a command stores it. */
typedef struct gls_length {
    /* the length, in mm or voxels as `mm` says */
    double value;
    bool mm; /* true: mm, false: voxels */
} gls_length;

/* C type of the value of each kind of option, for structs that are made from rows. */
#define GLS_ROW_FLAG bool
#define GLS_ROW_COUNT int
#define GLS_ROW_INT int
#define GLS_ROW_UINT64 uint64_t
#define GLS_ROW_SEED uint64_t
#define GLS_ROW_DOUBLE double
#define GLS_ROW_LENGTH gls_length
#define GLS_ROW_STRING const char *
#define GLS_ROW_STRINGS gls_strings
#define GLS_ROW_NUMBERS gls_numbers
#define GLS_ROW_CHOICE int

/* Ranges for rows. GLS_VALUES: a list of numbers, from `least` to `most` of them, whole numbers only if `whole`. */
#define GLS_ANY (-INFINITY, INFINITY, false)
#define GLS_AT_LEAST(low) (low, INFINITY, false)
#define GLS_MORE_THAN(low) (low, INFINITY, true)
#define GLS_BETWEEN(low, high) (low, high, false)
#define GLS_ABOVE_TO(low, high) (low, high, true)
#define GLS_VALUES(low, high, open, least, most, whole) (low, high, open, least, most, whole)

#define GLS_OPTION_RANGE(...) GLS_OPTION_RANGE_OF(__VA_ARGS__, 1, GLS_MAX_NUMBERS, false, )
#define GLS_OPTION_RANGE_OF(low, high, open, least, most, whole, ...) \
    .range = {low, high, open}, .min_values = least, .max_values = most, .integral = whole

/* Initialiser of a gls_option: offsets of the value and of its flag for mm, then what a user sees. */
#define GLS_OPTION_AT(offset_, mm_offset_, group_, type, name_, letter_, metavar_, unit_, range_, default_text_,    \
                      choices_, ...)                                                                                \
    .group = group_, .name = name_, .letter = letter_, .kind = GLS_KIND_##type, .metavar = metavar_, .unit = unit_, \
    GLS_OPTION_RANGE range_, .choices = choices_, .offset = offset_, .mm_offset = mm_offset_,                       \
    .default_text = default_text_, .help = __VA_ARGS__
/* Initialiser of a row whose value is the member `field` of the struct OPTION_OWNER. The array of size -1 makes the
 * compiler refuse a member of another type than the row's. */
#define GLS_OPTION(group, type, field, ...)                                                                           \
    {                                                                                                                 \
        GLS_OPTION_AT(offsetof(OPTION_OWNER, field) +                                                                 \
                          0 * sizeof(char[sizeof(((OPTION_OWNER *)NULL)->field) == sizeof(GLS_ROW_##type) ? 1 : -1]), \
                      offsetof(OPTION_OWNER, field) + offsetof(gls_length, mm), group, type, __VA_ARGS__)             \
    }
/* GLS_OPTION() of one kind, without the columns that this kind leaves open. */
#define GLS_FLAG(group, field, name, ...) \
    GLS_OPTION(group, FLAG, field, name, 0, NULL, NULL, GLS_ANY, NULL, NULL, __VA_ARGS__)
#define GLS_TEXT(group, field, name, metavar, default_text, ...) \
    GLS_OPTION(group, STRING, field, name, 0, metavar, NULL, GLS_ANY, default_text, NULL, __VA_ARGS__)
#define GLS_TEXTS(group, field, name, metavar, default_text, ...) \
    GLS_OPTION(group, STRINGS, field, name, 0, metavar, NULL, GLS_ANY, default_text, NULL, __VA_ARGS__)
#define GLS_CHOICE(group, field, name, choices, ...) \
    GLS_OPTION(group, CHOICE, field, name, 0, NULL, NULL, GLS_ANY, NULL, choices, __VA_ARGS__)
#define GLS_NUMBER(group, type, field, name, metavar, unit, range, default_text, ...) \
    GLS_OPTION(group, type, field, name, 0, metavar, unit, range, default_text, NULL, __VA_ARGS__)
/* A command keeps its options in a file of rows, *.def: ROW(group, type, field, name, letter, metavar, unit, range,
 * default, default_text, choices, help), as in glslines/params.def. A row may end with
 * .only = "...", .writes = GLS_WRITES_... or .since = "...". The macros below turn a row into an entry of a table, a
 * member of a struct, and the initial value of that member. */
#define GLS_OPTION_ROW(group, type, field, name, letter, metavar, unit, range, default_, ...) \
    GLS_OPTION(group, type, field, name, letter, metavar, unit, range, __VA_ARGS__),
#define GLS_ROW_FIELD(group, type, field, ...) GLS_ROW_##type field;
#define GLS_ROW_DEFAULT(group, type, field, name, letter, metavar, unit, range, default_, ...) .field = default_,
#define GLS_VOXELS(x) \
    {                 \
        x, false      \
    }
#define GLS_NO_LIST \
    {               \
        .n = 0      \
    }

/* The row of this name; NULL: none. */
const gls_option *gls_options_find(const gls_option *table, const char *name);
/* Checks in a struct of options that each choice is the index of a word, and that lists have a number of elements that
 * they can have, and no NULL among their texts. GLS_ERR_ARGUMENT names the option. For values that a calling program
 * has set. */
gls_status gls_options_check_values(const gls_option *table, const void *options);
/* Key of an option in a sidecar: "max-angle" in degrees -> "max_angle_degrees". */
void gls_option_key(const gls_option *option, char *key, size_t size);
/* Range of the values that the command line takes. A length may be in voxels, whose size is not known yet: its upper
 * bound, in mm, is left to later checks. For GLS_KIND_UINT64 a lower bound of 0 is left out, because
 * no value of the type lies below it. */
gls_range gls_option_range(const gls_option *option);
/* Writes the range: "at least 1 s/mm2", "more than 0 and at most 90 degrees"; for a length without its unit; "" without
 * bounds, or if the value is no number. */
void gls_option_range_text(const gls_option *option, char *buffer, size_t size);
/* Whether the value is a number or a list of numbers, for which the row has a range. */
bool gls_option_is_number(const gls_option *option);
/* Whether the value is a number of things, such as streamlines, which may be written 50k or 10M; not so what has
 * another unit, such as MB. */
bool gls_option_is_count(const gls_option *option);
/* Whether the option takes an argument on the command line. */
bool gls_option_takes_value(const gls_option *option);

/* The flag of a length that is true for mm; NULL: the length is always in mm. */
static inline bool *gls_option_mm_flag(const gls_option *option, void *options)
{
    return option->mm_offset > 0 ? (bool *)options + option->mm_offset : NULL;
}

/* Whether a length is in mm, not in voxels. */
static inline bool gls_option_in_mm(const gls_option *option, const void *options)
{
    return option->mm_offset == 0 || *((const bool *)options + option->mm_offset);
}

/* The value of an option as one number. */
typedef struct gls_option_number {
    /* the number in its own unit; of a flag, 0 or 1; of a choice, the index of the word; of a count, a seed, a text or
     * a list, 0 */
    double value;
    /* true if value is a length in mm, false if it is a length in voxels */
    bool mm;
} gls_option_number;
/* The value that the option has in the struct `options`. */
gls_option_number gls_option_get_number(const gls_option *option, const void *options);
/* Stores a number, a flag or the index of a choice. Does nothing for a count, a seed, a text or a list. */
void gls_option_set_number(const gls_option *option, void *options, gls_option_number number);
/* Bytes of the value of an option, without the flag of a length. */
size_t gls_option_size(const gls_option *option);

#endif
