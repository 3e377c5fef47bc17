/* Options as rows of a table: what an option is called, takes and means, and where its value lies in a struct. From a
 * row come the parser's checks, the help, the manual and the entry of a sidecar. */
#ifndef GLS_UTIL_OPTION_H
#define GLS_UTIL_OPTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/params_fields.h>

#include "util/format.h"

/* What an option takes, and the C type of its value. */
typedef enum gls_kind {
    GLS_KIND_FLAG,    /* nothing: bool */
    GLS_KIND_COUNT,   /* nothing, may be repeated: int */
    GLS_KIND_INT,     /* int */
    GLS_KIND_UINT64,  /* uint64_t */
    GLS_KIND_SEED,    /* a number or "random": uint64_t */
    GLS_KIND_DOUBLE,  /* double */
    GLS_KIND_LENGTH,  /* a number with an optional suffix vox or mm: double, and a bool at mm_offset that is true for mm
                       */
    GLS_KIND_NUMBERS, /* several numbers, apart or with commas: gls_numbers */
    GLS_KIND_STRINGS, /* one each time it is given: gls_strings */
    GLS_KIND_STRING,  /* const char *, NULL where not given */
    GLS_KIND_CHOICE   /* one of the words of choices: an enum or int, the word's place in the list */
} gls_kind;

typedef struct gls_option {
    const char *group; /* heading in the help; options of a group are neighbours */
    const char *name;  /* without dashes; NULL ends a table */
    char letter;       /* short form, 0: none */
    gls_kind kind;
    const char *metavar; /* GLS_KIND_CHOICE: NULL, or a word in place of a list of choices that is too long for a line;
                            GLS_KIND_STRING: [FILE.html] may be left out, which gives ""; a number: so may [L=0.1],
                            which gives 0.1; GLS_KIND_STRINGS: LABEL ... takes all words up to the next option, if it
                            stands behind the arguments */
    const char *unit;    /* shown with range and default; NULL: none */
    gls_range range;     /* of numbers; of a length in mm */
    int min_values, max_values; /* GLS_KIND_NUMBERS */
    bool integral;              /* GLS_KIND_NUMBERS: whole numbers only */
    const char *choices;        /* GLS_KIND_CHOICE: "a|b|c" */
    /* Of the value in the struct of the options, and of the unit of a length; mm_offset 0: it is always in mm there. */
    size_t offset, mm_offset;
    const char *default_text; /* in place of the initial value; "" shows no default */
    const char *help;
    /* of the rows of glslines/params.def: GLS_OF_, GLS_ROLE_ and GLS_FOR_ of track/params.h */
    unsigned owner;
    int role, user;
} gls_option;

/* A length as the struct of a command has it. */
typedef struct gls_length {
    double value;
    bool mm; /* else voxels */
} gls_length;

/* The type of a value in a struct that is made of rows. */
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

/* Ranges of rows. A list of numbers has at least least of them and at most most, whole ones only where whole. */
#define GLS_ANY (-INFINITY, INFINITY, false)
#define GLS_AT_LEAST(low) (low, INFINITY, false)
#define GLS_MORE_THAN(low) (low, INFINITY, true)
#define GLS_BETWEEN(low, high) (low, high, false)
#define GLS_ABOVE_TO(low, high) (low, high, true)
#define GLS_VALUES(low, high, open, least, most, whole) (low, high, open, least, most, whole)

#define GLS_OPTION_RANGE(...) GLS_OPTION_RANGE_OF(__VA_ARGS__, 1, GLS_MAX_NUMBERS, false, )
#define GLS_OPTION_RANGE_OF(low, high, open, least, most, whole, ...) \
    .range = {low, high, open}, .min_values = least, .max_values = most, .integral = whole

/* Who has a parameter; for others it had no part in the result. */
typedef enum gls_param_user {
    GLS_FOR_ALL,
    GLS_FOR_BOOT,
    GLS_FOR_PROB_DET,
    GLS_FOR_PTT,
    GLS_FOR_VERTICES, /* boot, prob and det: directions are vertices of a sphere */
    GLS_FOR_PEAKS,    /* the same and ptt: seeds start along peaks */
    GLS_FOR_STARTS,   /* the same, fact and eudx: several streamlines may start from a seed */
    GLS_FOR_FOD,      /* ifod1, ifod2, sdstream */
    GLS_FOR_CUTOFF,   /* the same, fact and eudx, and prob and det where amplitudes have a unit */
    GLS_FOR_IFOD,     /* ifod1, ifod2 */
    GLS_FOR_IFOD2,
    GLS_FOR_RK4,             /* tensordet, tensorprob */
    GLS_FOR_FIT,             /* a model is fitted */
    GLS_FOR_QBALL,           /* opdt or csa is fitted */
    GLS_FOR_CSD,             /* csd is fitted */
    GLS_FOR_MSMT,            /* msmt is fitted */
    GLS_FOR_SH,              /* ODFs are given as spherical harmonics */
    GLS_FOR_ODF,             /* ODFs are given */
    GLS_FOR_PEAK_FILES,      /* peaks are given */
    GLS_FOR_SEED_COUNT,      /* seeds are drawn by their number */
    GLS_FOR_SEEDS_PER_VOXEL, /* seeds are drawn voxel by voxel */
    GLS_FOR_SEED_LIST,       /* seeds are given */
    GLS_FOR_SEED_GRID,       /* seeds lie on a grid in each voxel */
    GLS_FOR_TISSUE           /* there is an image of tissue */
} gls_param_user;

/* A row: where its value and its flag for mm lie, then what a user sees. */
#define GLS_OPTION_AT(offset_, mm_offset_, group_, type, name_, letter_, metavar_, unit_, range_, default_text_,    \
                      choices_, help_)                                                                              \
    .group = group_, .name = name_, .letter = letter_, .kind = GLS_KIND_##type, .metavar = metavar_, .unit = unit_, \
    GLS_OPTION_RANGE range_, .choices = choices_, .offset = offset_, .mm_offset = mm_offset_,                       \
    .default_text = default_text_, .help = help_
/* A row whose value is a member of the struct OPTION_OWNER. The array has a size only if the type is the row's. */
#define GLS_OPTION(group, type, field, ...)                                                                           \
    {                                                                                                                 \
        GLS_OPTION_AT(offsetof(OPTION_OWNER, field) +                                                                 \
                          0 * sizeof(char[sizeof(((OPTION_OWNER *)NULL)->field) == sizeof(GLS_ROW_##type) ? 1 : -1]), \
                      offsetof(OPTION_OWNER, field) + offsetof(gls_length, mm), group, type, __VA_ARGS__)             \
    }
/* Options of commands are files of rows, *.def: ROW(group, type, field, name, letter, metavar, unit, range, default,
 * default_text, choices, help), as in glslines/params.def. What such a row becomes in a table, in a struct, and in the
 * struct's initial value: */
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

/* Rows up to the one that ends the table. */
size_t gls_options_count(const gls_option *table);
/* NULL: there is none of this name. */
const gls_option *gls_options_find(const gls_option *table, const char *name);
/* "max-angle" in degrees -> "max_angle_degrees" */
void gls_option_key(const gls_option *option, char *key, size_t size);
/* Whether the value is a number with a range. */
bool gls_option_is_number(const gls_option *option);
/* Whether the option has a value on the command line. */
bool gls_option_takes_value(const gls_option *option);

/* A value that is one number: its place of a choice, 0 of what is none. mm: of a length. */
typedef struct gls_option_number {
    double value;
    bool mm;
} gls_option_number;
gls_option_number gls_option_get_number(const gls_option *option, const void *options);
/* Changes nothing where the value is no number. */
void gls_option_set_number(const gls_option *option, void *options, gls_option_number number);
/* Copies the value from one struct to another. */
void gls_option_copy(const gls_option *option, void *to, const void *from);

#endif
