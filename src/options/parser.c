/* Parses a command line into the values of a command, by its table of options. */
#include "options/parser.h"
#include "options/bridge.h"
#include "options/help.h"
#include "options/options.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/output_name.h"
#include "util/status.h"
#include "util/text.h"

typedef struct parser {
    const cmd_command *command;
    int argc;
    char **argv;
    int next; /* index of the next argument */
    void *values;
    cmd_arguments *arguments;
    char *error;
    size_t error_size;
} parser;

__attribute__((format(printf, 2, 3))) static bool fail(parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gls_vsnprintf(p->error, p->error_size, format, args);
    va_end(args);
    return false;
}

/* Appends a line to text, which has space for size bytes. A line that does not fit is left out. */
__attribute__((format(printf, 3, 4))) static void add_line(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t used = strlen(text), room = size - used;
    int n = gls_vsnprintf(text + used, room, format, args);
    if (n < 0 || (size_t)n + 1 >= room)
        text[used] = '\0';
    else
        memcpy(text + used + n, "\n", 2);
    va_end(args);
}

/* Adds a line that says what a word that is not of glslines, such as an option of another program, was taken for. */
#define note(p, ...) add_line((p)->arguments->taken, sizeof(p)->arguments->taken, __VA_ARGS__)
/* Adds a warning to the list, which is shown even with --quiet. */
#define warn(p, ...) add_line((p)->arguments->warnings, sizeof(p)->arguments->warnings, __VA_ARGS__)

static bool parse_int(const char *text, int *value)
{
    const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
    if (!*digits || strspn(digits, "0123456789") != strlen(digits)) return false;
    errno = 0;
    long v = strtol(text, NULL, 10);
    if (errno || v < INT_MIN || v > INT_MAX) return false;
    *value = (int)v;
    return true;
}

/* Parses a number. The unit of the option may follow: 20 or 20mm. */
static bool parse_number(const gls_option *option, const char *text, double *value)
{
    char number[64];
    size_t n = strlen(text), unit = option->unit ? strlen(option->unit) : 0;
    bool has_unit = unit > 0 && n > unit && n - unit < sizeof number && strcmp(text + n - unit, option->unit) == 0;
    if (has_unit) snprintf(number, sizeof number, "%.*s", (int)(n - unit), text);
    return gls_parse_double(has_unit ? number : text, value);
}

static bool no_number(parser *p, const gls_option *option, const char *text)
{
    if (option->unit) return fail(p, "--%s: '%s' is not a number (in %s)", option->name, text, option->unit);
    return fail(p, "--%s: '%s' is not a number", option->name, text);
}

static bool check_range(parser *p, const gls_option *option, const char *text, double v)
{
    char range[128];
    gls_range valid = gls_option_range(option);
    if (gls_range_has(&valid, v)) return true;
    if (!gls_is_single(v)) return fail(p, "--%s: %s is out of range: must be " GLS_SINGLE_TEXT, option->name, text);
    gls_option_range_text(option, range, sizeof range);
    return fail(p, "--%s: %s is out of range: must be %s", option->name, text, range);
}

/* Index of the choice that equals text in lower case: for CSD, csd in "opdt|csd". -1: none. */
static int find_in_lower_case(const char *choices, const char *text)
{
    char lower[64];
    size_t n = strlen(text);
    if (n >= sizeof lower) return -1;
    for (size_t i = 0; i <= n; i++) lower[i] = (char)gls_to_lower((unsigned char)text[i]);
    return gls_choice_find(choices, lower, n);
}

static bool set_choice(parser *p, const gls_option *option, const char *text, int *field)
{
    int index = gls_choice_find(option->choices, text, strlen(text));
    const char *word = index < 0 ? cmd_bridge_word(option->name, text) : NULL;
    const char *here = cmd_bridge_value(&p->arguments->table, option->name, text);
    if (word && (index = gls_choice_find(option->choices, word, strlen(word))) >= 0) {
        note(p, "--%s %s: %s", option->name, text, here);
    } else if (index < 0 && (index = find_in_lower_case(option->choices, text)) >= 0) {
        note(p, "--%s %s: taken as %s", option->name, text, GLS_WORD(option->choices, index));
    }
    if (index >= 0) {
        *field = index;
        return true;
    }
    char list[256];
    size_t used = 0;
    for (const char *c = option->choices; *c && used + 3 < sizeof list; c++) {
        if (*c == '|') {
            list[used++] = ',';
            list[used++] = ' ';
        } else {
            list[used++] = *c;
        }
    }
    list[used] = '\0';
    if (here && !word) return fail(p, "--%s: unknown value '%s'; here it is %s", option->name, text, here);
    return fail(p, "--%s: unknown value '%s'; known are: %s", option->name, text, list);
}

static bool set_length(parser *p, const gls_option *option, const char *text, double *field, bool *field_mm)
{
    char number[64];
    size_t n = strlen(text);
    bool mm = n > 2 && strcmp(text + n - 2, "mm") == 0, vox = n > 3 && strcmp(text + n - 3, "vox") == 0;
    n -= mm ? 2 : vox ? 3 : 0;
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (n >= sizeof number || !gls_parse_double(number, field))
        return fail(p, "--%s: '%s' is not a length such as 0.5,%s 1mm", option->name, text, field_mm ? " 0.5vox," : "");
    if (vox && !field_mm) return fail(p, "--%s: '%s' is in voxels, but must be in mm", option->name, text);
    if (field_mm) *field_mm = mm;
    return check_range(p, option, text, *field);
}

/* Appends the numbers of one argument, which may hold several with commas. */
static bool add_numbers(parser *p, const gls_option *option, const char *text, gls_numbers *field)
{
    char item[64];
    for (const char *c = text;; c++) {
        size_t n = strcspn(c, ",");
        double v;
        if (n >= sizeof item) return fail(p, "--%s: '%s' is not a number", option->name, text);
        memcpy(item, c, n);
        item[n] = '\0';
        if (!gls_parse_double(item, &v)) return fail(p, "--%s: '%s' is not a number", option->name, item);
        if (option->integral && v != floor(v)) return fail(p, "--%s: '%s' is not a whole number", option->name, item);
        if (!check_range(p, option, item, v)) return false;
        if (field->n == option->max_values)
            return fail(p, "--%s: takes at most %d values", option->name, option->max_values);
        field->value[field->n++] = v;
        c += n;
        if (!*c) return true;
    }
}

/* Whether an argument continues a list. Only numbers do, so that a file name after the option stays an argument. */
static bool continues_list(const char *text)
{
    char copy[64];
    double v;
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *state = NULL;
    for (char *item = strtok_r(copy, ",", &state); item; item = strtok_r(NULL, ",", &state))
        if (!gls_parse_double(item, &v)) return false;
    return *text != '\0';
}

static bool set_numbers(parser *p, const gls_option *option, const char *text, gls_numbers *field)
{
    gls_numbers numbers = {.n = 0};
    if (!add_numbers(p, option, text, &numbers)) return false;
    bool list = strchr(text, ',') != NULL;
    while (!list && numbers.n < option->max_values && p->next < p->argc && continues_list(p->argv[p->next]))
        if (!add_numbers(p, option, p->argv[p->next++], &numbers)) return false;
    if (numbers.n < option->min_values)
        return fail(p, "--%s: needs %d values, got %d", option->name, option->min_values, numbers.n);
    *field = numbers;
    return true;
}

/* Stores the value of the option with this index in the struct of the command. Returns false if the value is invalid,
 * with the message in p->error. */
static bool set_value(parser *p, size_t index, const char *text)
{
    const gls_option *option = &p->arguments->table.option[index];
    void *field = (char *)p->values + option->offset;
    char range[128];
    assert(text || option->kind == GLS_KIND_FLAG || option->kind == GLS_KIND_COUNT);
    switch (option->kind) {
    case GLS_KIND_FLAG: *(bool *)field = true; return true;
    case GLS_KIND_COUNT: ++*(int *)field; return true;
    case GLS_KIND_INT:
        if (!parse_int(text, field))
            return fail(p, "--%s: '%s' is not a whole number, or is out of range", option->name, text);
        return check_range(p, option, text, *(int *)field);
    case GLS_KIND_UINT64:
        gls_option_range_text(option, range, sizeof range);
        /* what has a unit of its own, such as MB, is no number of things */
        if (!(gls_option_is_count(option) ? gls_parse_count : gls_parse_uint64)(text, field))
            return fail(p, "--%s: '%s' is not a whole number from 0 on: must be %s", option->name, text,
                        *range ? range : "at most 18446744073709551615");
        return check_range(p, option, text, (double)*(uint64_t *)field);
    case GLS_KIND_SEED: {
        uint64_t v = 0;
        const bool random = strcmp(text, "random") == 0;
        if (!random && !gls_parse_uint64(text, &v))
            return fail(p, "--%s: '%s' is neither a whole number from 0 to 18446744073709551615 nor 'random'",
                        option->name, text);
        *(uint64_t *)field = v;
        p->arguments->random[index] = random;
        return true;
    }
    case GLS_KIND_DOUBLE:
        if (!parse_number(option, text, field)) return no_number(p, option, text);
        return check_range(p, option, text, *(double *)field);
    case GLS_KIND_LENGTH: return set_length(p, option, text, field, gls_option_mm_flag(option, p->values));
    case GLS_KIND_NUMBERS: return set_numbers(p, option, text, field);
    case GLS_KIND_STRINGS: {
        gls_strings *strings = field;
        if (!*text) return fail(p, "--%s: the value is empty", option->name);
        if (strings->n == GLS_MAX_STRINGS)
            return fail(p, "--%s: takes at most %d values", option->name, GLS_MAX_STRINGS);
        strings->value[strings->n++] = text;
        return true;
    }
    case GLS_KIND_STRING:
        if (!*text) return fail(p, "--%s: the value is empty", option->name);
        *(const char **)field = text;
        return true;
    case GLS_KIND_CHOICE: return set_choice(p, option, text, field);
    }
    return false;
}

static const gls_option *option_at(const parser *p, size_t i)
{
    return &p->arguments->table.option[i];
}

/* Index of the option with this name or alias; the number of options if there is none. */
static size_t find_option(const parser *p, const char *name)
{
    const size_t n = p->arguments->table.n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(option_at(p, i)->name, name) == 0) return i;
    for (const char *const *alias = p->command->aliases; alias && *alias; alias += 2)
        if (strcmp(alias[0], name) == 0) return find_option(p, alias[1]);
    return n;
}

/* Copies a name with dashes in place of underscores. */
static const char *dashed(const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", name);
    for (char *c = buffer; *c; c++)
        if (*c == '_') *c = '-';
    return buffer;
}

/* Returns the value to use where the user left out the value; NULL: the next argument is the value. With the metavar
 * "[FILE.html]" the next argument is the value only if it ends in .html; left out, the value is "". With "[L=0.1]" it
 * is the value only if it is a number; left out, the value is 0.1. With the metavar "[sift2|commit]" of a choice it is
 * the value only if it is one of the words; left out, the value is the first of them. buffer: holds the returned text.
 */
static const char *left_out(const parser *p, const gls_option *option, char *buffer, size_t size)
{
    const char *next = p->next < p->argc ? p->argv[p->next] : "", *metavar = option->metavar;
    if (!metavar || *metavar != '[') return NULL;
    if (option->kind == GLS_KIND_CHOICE) {
        if (gls_choice_find(option->choices, next, strlen(next)) >= 0) return NULL;
        snprintf(buffer, size, "%.*s", (int)strcspn(metavar + 1, "|]"), metavar + 1);
        return buffer;
    }
    const char *equals = strchr(metavar, '='), *suffix = strrchr(metavar, '.');
    if (equals) {
        double v;
        if (parse_number(option, next, &v)) return NULL;
        snprintf(buffer, size, "%.*s", (int)strcspn(equals + 1, "]"), equals + 1);
        return buffer;
    }
    size_t length = strlen(next), n = suffix ? strlen(suffix) - 1 : 0; /* without the bracket */
    bool is_value =
        !suffix || (length > n && strncmp(next, "--", 2) != 0 && strncmp(next + length - n, suffix, n) == 0);
    return is_value ? NULL : "";
}

/* Number of arguments that have a name of their own in the help. */
static int count_names(const cmd_command *command)
{
    int n = 0;
    while (command->positionals && command->positionals[2 * n]) n++;
    return n;
}

/* Whether the option takes all words up to the next option: metavar "LABEL ...", and all positional arguments were
 * given. */
static bool takes_words(const parser *p, const gls_option *option)
{
    if (option->kind != GLS_KIND_STRINGS || !strstr(option->metavar, " ...")) return false;
    return p->arguments->n_positionals >= count_names(p->command);
}

/* The value to use: `text`, or its replacement if it is a value of another program. NULL after an error that names the
 * option to use instead, as for the number of tckgen's -seeds. Names of existing files and choices stay as they are. */
static const char *translated(parser *p, const gls_option *option, const char *text)
{
    const char *here = cmd_bridge_value(&p->arguments->table, option->name, text);
    const char *word = cmd_bridge_word(option->name, text);
    if (option->kind == GLS_KIND_CHOICE || !here || access(text, F_OK) == 0) return text;
    if (word) note(p, "--%s %s: %s", option->name, text, here);
    if (!word) fail(p, "--%s %s: here it is %s", option->name, text, here);
    return word;
}

/* Whether an option may be given again. Flags count, and lists of texts grow. A number or a choice is replaced, so that
 * a user can append to the options of a script. For a file, a name or a list of numbers it is an error, because the
 * first value would be ignored silently. */
static bool may_come_again(parser *p, const gls_option *option)
{
    switch (option->kind) {
    case GLS_KIND_FLAG:
    case GLS_KIND_COUNT:
    case GLS_KIND_STRINGS: return true;
    case GLS_KIND_STRING: return fail(p, "--%s: given twice; it takes one value", option->name);
    case GLS_KIND_NUMBERS:
        return fail(p, "--%s: given twice; give all its values at once, with commas between them", option->name);
    default: warn(p, "--%s: given twice; the last value holds", option->name); return true;
    }
}

/* Notes that an option was given and reads the value, if it takes one: the text after '=' or after the letter, or the
 * next argument. */
static bool read_option(parser *p, size_t index, const char *attached)
{
    const gls_option *option = option_at(p, index);
    const char *text = attached;
    if (p->arguments->given[index] && !may_come_again(p, option)) return false;
    p->arguments->given[index] = true;
    if (!gls_option_takes_value(option)) {
        if (attached) return fail(p, "--%s: takes no value", option->name);
        return set_value(p, index, NULL);
    }
    char buffer[32];
    const char *stands = text ? NULL : left_out(p, option, buffer, sizeof buffer);
    if (stands && option->kind == GLS_KIND_STRING) {
        *(const char **)((char *)p->values + option->offset) = "";
        return true;
    }
    if (stands) return set_value(p, index, stands);
    if (!text) {
        /* In "--output --force" the value was forgotten. --output=--force names a file --force. */
        if (p->next >= p->argc || strncmp(p->argv[p->next], "--", 2) == 0)
            return fail(p, "--%s: needs a value (%s)", option->name, option->metavar);
        text = p->argv[p->next++];
    }
    if (!(text = translated(p, option, text))) return false;
    if (!set_value(p, index, text)) return false;
    while (takes_words(p, option) && p->next < p->argc && p->argv[p->next][0] != '-')
        if (!set_value(p, index, p->argv[p->next++])) return false;
    return true;
}

/* Whether the command whose options follow "--" has an option of this name. */
static bool is_behind(const parser *p, const char *name)
{
    cmd_table table;
    if (!p->command->behind) return false;
    cmd_options_list(p->command->behind, &table);
    for (size_t i = 0; i < table.n; i++)
        if (strcmp(table.option[i].name, name) == 0) return true;
    for (const char *const *alias = p->command->behind->aliases; alias && *alias; alias += 2)
        if (strcmp(*alias, name) == 0) return true;
    return false;
}

/* Handles an option that is not needed. why: the reason in the row of the option, which says whether it has a value. */
static bool leave_out(parser *p, const char *dashes, const char *name, const char *why)
{
    const char *reason = strchr(why, ':') + 2;
    const bool has_value = strncmp(why, "with its value", 14) == 0 && !strchr(p->argv[p->next - 1], '=');
    if (has_value && p->next < p->argc && p->argv[p->next][0] != '-') p->next++;
    note(p, "%s%s: not needed here: %s", dashes, name, reason);
    return true;
}

/* Handles an option that the command does not have: an option of another program, or a mistyped option. */
static bool unknown(parser *p, const char *dashes, const char *name)
{
    const char *words[CMD_MAX_OPTIONS + 8], *own = p->command->name;
    const cmd_bridged known = cmd_bridge_option(own, &p->arguments->table, name);
    const char *here = known.here && strcmp(known.command, own) == 0 ? known.here : NULL;
    char buffer[64];
    const char *ours = dashed(name, buffer, sizeof buffer);
    const size_t found = find_option(p, ours);
    for (size_t i = 0; i < p->arguments->table.n; i++) words[i] = option_at(p, i)->name;
    /* A word after a single dash is an option of another program: tckgen's -seeds is not --seeds. */
    if (found < p->arguments->table.n && !(here && strlen(dashes) == 1))
        return fail(p, "unknown option %s%s; here it is --%s", dashes, name, words[found]);
    if (here && strncmp(here, "unneeded", 8) == 0) return leave_out(p, dashes, name, here + strspn(here + 8, " ") + 8);
    if (here && strncmp(here, "nothing: ", 9) == 0)
        return fail(p, "unknown option %s%s; it is not needed here: %s", dashes, name, here + 9);
    if (here) return fail(p, "unknown option %s%s; here it is %s", dashes, name, here);
    const bool is_output = strcmp(name, "o") == 0 || strcmp(name, "out") == 0 || strcmp(name, "output") == 0;
    if (is_output && p->command->positionals && strstr(p->command->synopsis, " OUT_DIR"))
        return fail(p, "unknown option %s%s; here it is an argument: %s %s", dashes, name, own, p->command->synopsis);
    if (is_output && find_option(p, "json") < p->arguments->table.n)
        return fail(p, "unknown option %s%s; here it is --json FILE.json", dashes, name);
    if (is_behind(p, ours))
        return fail(p, "unknown option %s%s; it is an option of '%s': put options of '%s' behind --, as in '%s'",
                    dashes, name, p->command->behind->name, p->command->behind->name, "-- --nseeds 1000");
    const char *near = gls_nearest_word(ours, words, p->arguments->table.n);
    if (near) return fail(p, "unknown option %s%s; did you mean --%s?", dashes, name, near);
    if (name[1] && known.here && strstr(known.here, "--"))
        return fail(p, "unknown option %s%s; in 'glslines %s' it is %s", dashes, name, known.command, known.here);
    return fail(p, "unknown option %s%s; 'glslines %s --help' lists all", dashes, name, own);
}

static bool read_long(parser *p, const char *argument)
{
    char name[64];
    const char *text = argument + 2, *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    size_t i = find_option(p, name);
    return i < p->arguments->table.n ? read_option(p, i, equals ? equals + 1 : NULL) : unknown(p, "--", name);
}

/* Whether a name is an option here or in another program, so that -output is not read as -o utput. */
static bool is_word(const parser *p, const char *name)
{
    char buffer[64];
    return find_option(p, dashed(name, buffer, sizeof buffer)) < p->arguments->table.n ||
           cmd_bridge_option(p->command->name, &p->arguments->table, name).here;
}

/* Reads "-v", "-vq" or "-ofile". Letters without values may share a dash. */
static bool read_letters(parser *p, const char *argument)
{
    if (argument[2] && is_word(p, argument + 1)) return unknown(p, "-", argument + 1);
    for (const char *c = argument + 1; *c; c++) {
        size_t i = 0;
        while (i < p->arguments->table.n && option_at(p, i)->letter != *c) i++;
        if (i == p->arguments->table.n && c == argument + 1) return unknown(p, "-", c);
        if (i == p->arguments->table.n)
            return fail(p, "unknown option -%c in '%s'; 'glslines %s --help' lists all", *c, argument,
                        p->command->name);
        if (gls_option_takes_value(option_at(p, i)))
            return read_option(p, i, c[1] ? (c[1] == '=' ? c + 2 : c + 1) : NULL);
        if (!read_option(p, i, NULL)) return false;
    }
    return true;
}

/* Whether the last argument is the output of a command that has a row "output". */
static bool ends_with_output(const parser *p)
{
    const cmd_arguments *a = p->arguments;
    const char *suffix = p->command->out_suffixes;
    if (a->n_positionals == 0) return false;
    if (!suffix) return a->n_positionals == count_names(p->command);
    for (; *suffix; suffix += strcspn(suffix, " "), suffix += strspn(suffix, " ")) {
        char word[16];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(suffix, " "), suffix);
        if (gls_case_ends(a->positional[a->n_positionals - 1], word)) return true;
    }
    return false;
}

/* Takes the output from the last argument or from --output, whichever was given, to where the command looks for it. */
static bool place_output(parser *p)
{
    cmd_arguments *a = p->arguments;
    const char *name = cmd_output_argument(p->command);
    if (!name) return true;
    const size_t row = find_option(p, "output");
    const bool own = row < a->table.n_own, given = a->given[row];
    const char **value = (const char **)((char *)p->values + option_at(p, row)->offset);
    if (own ? given && ends_with_output(p) && !p->command->out_suffixes
            : given && a->n_positionals >= count_names(p->command))
        return fail(p, "--output: the argument %s names the output already; leave out one of them", name);
    if (own && !given && ends_with_output(p)) {
        *value = a->positional[--a->n_positionals];
        a->given[row] = true;
    } else if (!own && given) {
        a->positional[a->n_positionals++] = *value;
    }
    return true;
}

/* Refuses an option that was given with a choice that does not have it. */
static bool check_owner(parser *p, size_t index)
{
    const gls_option *option = option_at(p, index);
    if (!p->arguments->given[index] || !option->only) return true;
    char name[32], text[128];
    const char *words = strchr(option->only, ' ') + 1;
    assert(words);
    snprintf(name, sizeof name, "%.*s", (int)(words - 1 - option->only), option->only);
    const gls_option *choice = option_at(p, find_option(p, name));
    const char *word = choice->choices;
    for (int k = *(const int *)((const char *)p->values + choice->offset); k > 0; k--) word = strchr(word, '|') + 1;
    const size_t n = strcspn(word, "|");
    for (const char *w = words; w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL)
        if (strcspn(w, "|") == n && strncmp(w, word, n) == 0) return true;
    /* "a|b|c" as "a, b and c" */
    size_t used = 0;
    for (const char *w = words; *w && used < sizeof text - 8; w++) {
        const char one[2] = {*w, 0};
        const char *piece = *w != '|' ? one : strchr(w + 1, '|') ? ", " : " and ";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", piece);
    }
    return fail(p, "--%s: only --%s %s can use it", option->name, name, text);
}

/* Checks the names of the outputs that were given, as values of options or as the last argument. */
static bool check_outputs(parser *p)
{
    const cmd_arguments *a = p->arguments;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < a->table.n && !status; i++)
        if (a->given[i]) status = gls_option_outputs_check(option_at(p, i), p->values);
    const size_t output = find_option(p, "output");
    const int step = p->command->out_step, n = a->n_positionals, first = count_names(p->command) - 1;
    const bool are_arguments = cmd_output_argument(p->command) && output >= a->table.n_own && first < n;
    for (int i = step > 0 ? first : n - 1; are_arguments && i < n && !status; i += step > 0 ? step : n)
        status = gls_output_name_check(option_at(p, output), a->positional[i]);
    return !status || fail(p, "%s", gls_last_error());
}

static void log_lines(gls_log_level level, const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        gls_log(level, "%.*s", (int)strcspn(line, "\n"), line);
}

void cmd_options_log(const cmd_arguments *arguments)
{
    log_lines(GLS_LOG_WARNING, arguments->warnings);
    log_lines(GLS_LOG_INFO, arguments->taken);
}

bool cmd_options_parse(const cmd_command *command, int argc, char **argv, int first, void *values,
                       cmd_arguments *arguments, char *error, size_t error_size)
{
    parser p = {command, argc, argv, first, values, arguments, error, error_size};
    bool only_positionals = false;
    *arguments = (cmd_arguments){.command = command, .argc = argc, .argv = argv};
    cmd_options_list(command, &arguments->table);
    if (command->values_size > CMD_MAX_VALUES)
        return fail(&p, "%s: more options than there is room for", command->name);
    while (p.next < argc) {
        const char *argument = argv[p.next++];
        if (!only_positionals && strcmp(argument, "--") == 0) {
            only_positionals = true;
        } else if (!only_positionals && strncmp(argument, "--", 2) == 0) {
            if (!read_long(&p, argument)) return false;
        } else if (!only_positionals && argument[0] == '-' && argument[1]) {
            if (!read_letters(&p, argument)) return false;
        } else if (!*argument) {
            return fail(&p, "%s: argument %d is empty: is it a variable of the shell that is not set?", command->name,
                        arguments->n_positionals + 1);
        } else if (arguments->n_positionals == command->max_positionals) {
            return fail(&p, "unexpected argument '%s'; usage: glslines %s %s", argument, command->name,
                        command->synopsis);
        } else {
            arguments->positional[arguments->n_positionals++] = argument;
        }
    }
    for (size_t i = 0; i < arguments->table.n; i++)
        if (!check_owner(&p, i)) return false;
    return place_output(&p) && check_outputs(&p);
}
