/* Every option of every command, from the program's own tables: a good value is taken and stands where it belongs, bad
 * ones are refused in one line that names the option, the first of them by the program itself, with exit code 2. Usage:
 * every_option TOOL. */
#include <math.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "options/help.h"
#include "options/parser.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "options/options.h"

extern char **environ;
static char *tool;

#define WORDS 4
typedef struct line {
    char text[WORDS][1024];
    char *argv[WORDS + 1];
    int n;
} line;

/* Writes the command line glslines COMMAND --NAME=VALUE, with the option of another choice that it needs. value NULL:
 * without a value. */
static void write_line(line *l, const cmd_command *command, const gls_option *option, const char *value)
{
    snprintf(l->text[0], sizeof l->text[0], "glslines");
    snprintf(l->text[1], sizeof l->text[1], "%s", command->name);
    snprintf(l->text[2], sizeof l->text[2], "--%s%s%s", option->name, value ? "=" : "", value ? value : "");
    const int name = option->only ? (int)strcspn(option->only, " ") : 0;
    if (name > 0)
        snprintf(l->text[3], sizeof l->text[3], "--%.*s=%.*s", name, option->only,
                 (int)strcspn(option->only + name + 1, "|"), option->only + name + 1);
    l->n = name > 0 ? WORDS : WORDS - 1;
    for (int i = 0; i < l->n; i++) l->argv[i] = l->text[i];
    l->argv[l->n] = NULL;
}

/* Writes a number in the range that is not the default; a whole number if possible. */
static double number_for(const gls_option *option)
{
    const gls_range r = option->range;
    double low = isfinite(r.min) ? r.min : isfinite(r.max) ? r.max - 10 : 0;
    double high = isfinite(r.max) ? r.max : low + 10;
    double v = floor(low + 0.5 * (high - low));
    return gls_range_has(&r, v) ? v : low + 0.5 * (high - low);
}

/* A name that the option takes: of what it writes, or any. */
static const char *good_name(const gls_option *option)
{
    const int w = option->writes & (GLS_WRITES_SEVERAL | GLS_WRITES_TEXT) ? 0 : option->writes;
    return w & GLS_WRITES_IMAGE        ? "a,b=c.nii"
           : w & GLS_WRITES_TRACTOGRAM ? "a,b=c.trx"
           : w & GLS_WRITES_SCALARS    ? "a,b=c.tsf"
           : w & GLS_WRITES_PICTURE    ? "a,b=c.png"
           : w & GLS_WRITES_PAGE       ? "a,b=c.html"
                                       : "a,b=c";
}

/* Returns a value of the option; NULL: it has none, as a flag. */
static const char *good_value(const gls_option *option, char *text, size_t size)
{
    switch (option->kind) {
    case GLS_KIND_FLAG:
    case GLS_KIND_COUNT: return NULL;
    case GLS_KIND_SEED: snprintf(text, size, "7"); break;
    case GLS_KIND_STRING:
    case GLS_KIND_STRINGS: snprintf(text, size, "%s", good_name(option)); break;
    case GLS_KIND_CHOICE: snprintf(text, size, "%s", strrchr(option->choices, '|') + 1); break;
    case GLS_KIND_LENGTH: snprintf(text, size, "%.9gmm", number_for(option)); break;
    case GLS_KIND_NUMBERS: {
        size_t used = 0;
        for (int i = 0; i < option->min_values; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%.9g", i ? "," : "", number_for(option));
        break;
    }
    case GLS_KIND_INT:
    case GLS_KIND_UINT64: snprintf(text, size, "%.0f", number_for(option)); break;
    case GLS_KIND_DOUBLE: snprintf(text, size, "%.9g", number_for(option)); break;
    }
    return text;
}

static void check_field(const gls_option *option, const void *values, const char *text)
{
    const void *field = (const char *)values + option->offset;
    const double v = gls_option_is_number(option) ? number_for(option) : 0;
    switch (option->kind) {
    case GLS_KIND_FLAG: assert_true(*(const bool *)field); break;
    case GLS_KIND_COUNT: assert_int_equal(*(const int *)field, 1); break;
    case GLS_KIND_SEED: assert_int_equal(*(const uint64_t *)field, 7); break;
    case GLS_KIND_STRING: assert_string_equal(*(const char *const *)field, text); break;
    case GLS_KIND_STRINGS: assert_string_equal(((const gls_strings *)field)->value[0], text); break;
    case GLS_KIND_CHOICE: {
        int n = 0;
        for (const char *c = option->choices; *c; c++) n += *c == '|';
        assert_int_equal(*(const int *)field, n);
        break;
    }
    case GLS_KIND_LENGTH:
        assert_true(*((const bool *)values + option->mm_offset));
        assert_true(fabs(*(const double *)field - v) <= 1e-6 * fabs(v));
        break;
    case GLS_KIND_NUMBERS:
        assert_int_equal(((const gls_numbers *)field)->n, option->min_values);
        assert_true(fabs(((const gls_numbers *)field)->value[0] - v) <= 1e-6 * fabs(v));
        break;
    case GLS_KIND_INT: assert_int_equal(*(const int *)field, (int)v); break;
    case GLS_KIND_UINT64: assert_true((double)*(const uint64_t *)field == v); break;
    case GLS_KIND_DOUBLE: assert_true(fabs(*(const double *)field - v) <= 1e-6 * fabs(v)); break;
    }
}

static void parse_good(const cmd_command *command, const gls_option *option, const char *value)
{
    static cmd_values values;
    static cmd_arguments arguments;
    char error[1024] = "";
    line l;
    memset(&values, 0, sizeof values);
    command->set_defaults(values.bytes);
    write_line(&l, command, option, value);
    if (!cmd_options_parse(command, l.n, l.argv, 2, &values, &arguments, error, sizeof error))
        fail_msg("%s %s: %s", command->name, l.argv[2], error);
    check_field(option, &values, value);
}

static void try_good(const cmd_command *command, const gls_option *option)
{
    char text[512];
    parse_good(command, option, good_value(option, text, sizeof text));
}

/* Runs the program. Returns the exit code, and what it printed on standard error. */
static int run(char *const *argv, char *text, size_t size)
{
    posix_spawn_file_actions_t actions;
    int fd[2], status;
    pid_t pid;
    size_t n = 0;
    assert_int_equal(pipe(fd), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, fd[0]);
    assert_int_equal(posix_spawn(&pid, tool, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(fd[1]);
    for (ssize_t got; n + 1 < size && (got = read(fd[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    text[n] = '\0';
    close(fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Checks that the program itself ends with exit code 2 and one line that names the option. */
static void run_bad(const cmd_command *command, const gls_option *option, const char *value)
{
    char text[4096], name[128];
    line l;
    write_line(&l, command, option, value);
    int code = run(l.argv, text, sizeof text);
    snprintf(name, sizeof name, "--%s", option->name);
    const char *end = strchr(text, '\n');
    if (code != CMD_EXIT_USAGE || !strstr(text, name) || !end || end[1])
        fail_msg("%s %s: exit code %d, '%s'", command->name, l.argv[2], code, text);
}

/* Checks that the parser, whose refusals the program prints unchanged, names the option in one line. */
static void parse_bad(const cmd_command *command, const gls_option *option, const char *value)
{
    static cmd_values values;
    static cmd_arguments arguments;
    char error[1024] = "", name[128];
    line l;
    memset(&values, 0, sizeof values);
    command->set_defaults(values.bytes);
    write_line(&l, command, option, value);
    snprintf(name, sizeof name, "--%s", option->name);
    if (cmd_options_parse(command, l.n, l.argv, 2, &values, &arguments, error, sizeof error) || !strstr(error, name) ||
        strchr(error, '\n'))
        fail_msg("%s %s: '%s'", command->name, l.argv[2], error);
}

static void try_all_bad(const cmd_command *command, const gls_option *option)
{
    const gls_range r = option->range;
    char text[64];
    const bool text_only = option->kind == GLS_KIND_STRING || option->kind == GLS_KIND_STRINGS;
    run_bad(command, option, text_only ? "" : "no:such:value");
    if (!gls_option_is_number(option)) return;
    parse_bad(command, option, "1e39"); /* single precision has no such number */
    parse_bad(command, option, "-1e39");
    if (r.min == 0 && r.min_open) parse_bad(command, option, "1e-60");
    /* a step that a double and nine digits show, beside large bounds too */
    if (isfinite(r.min)) {
        snprintf(text, sizeof text, "%.9g", r.min_open ? r.min : r.min - fmax(1, 1e-6 * fabs(r.min)));
        parse_bad(command, option, text);
    } else if (isfinite(r.max)) {
        snprintf(text, sizeof text, "%.9g", r.max + fmax(1, 1e-6 * fabs(r.max)));
        parse_bad(command, option, text);
    }
}

/* A value of the option that names FILE as its output. */
static void value_with(const gls_option *option, const char *file, char *text, size_t size)
{
    const bool pair = strchr(option->metavar, ':') && !strstr(option->metavar, "|dps:");
    snprintf(text, size, "%s%s", !pair ? "" : strncmp(option->metavar, "MM", 2) == 0 ? "8:" : "a.nii:", file);
}

/* Names of files of each kind. An option that writes takes those of its own kinds, and no other. */
static void try_outputs(const cmd_command *command, const gls_option *option)
{
    static const struct {
        int kind;
        const char *file[3];
    } names[] = {
        {GLS_WRITES_TEXT, {"a.tsv", "a.csv", "a.unknown"}},   {GLS_WRITES_IMAGE, {"a.nii.gz", "a.MIF", "a.nii"}},
        {GLS_WRITES_TRACTOGRAM, {"a.trx", "a.TCK", "a.vtk"}}, {GLS_WRITES_SCALARS, {"a.tsf", "d/a.tsf", "a.TSF"}},
        {GLS_WRITES_PICTURE, {"a.png", "d/a.PNG", "a.apng"}}, {GLS_WRITES_PAGE, {"a.html", "a.HTML", "d/a.html"}}};
    static const char *const verbs[] = {"Write ", "Also write", "Where to write", "to write"};
    bool writes = false;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        writes |= strstr(option->help, verbs[i]) && option->kind == GLS_KIND_STRING && strstr(option->metavar, "FILE");
    if (writes && !option->writes)
        fail_msg("%s --%s: its row does not say what it writes", command->name, option->name);
    if (!option->writes || (option->writes & GLS_WRITES_SEVERAL)) return;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0; i < 3; i++) {
            char value[512];
            value_with(option, names[k].file[i], value, sizeof value);
            const bool good = option->writes & names[k].kind;
            if (!good && i == 0) run_bad(command, option, value);
            if (!good) parse_bad(command, option, value);
            if (good) parse_good(command, option, value);
        }
}

static void each(void (*try)(const cmd_command *, const gls_option *), size_t least)
{
    size_t n = 0;
    for (const cmd_command *const *c = cmd_commands; *c; c++) {
        cmd_table table;
        cmd_options_list(*c, &table);
        for (size_t i = 0; i < table.n; i++, n++)
            if (strcmp(table.option[i].name, "help") != 0) try(*c, &table.option[i]);
    }
    print_message("%zu options\n", n);
    assert_true(n >= least);
}

static void test_good(void **state)
{
    (void)state;
    each(try_good, 400);
}

static void test_outputs(void **state)
{
    (void)state;
    each(try_outputs, 400);
}

static void test_bad(void **state)
{
    (void)state;
    each(try_all_bad, 400);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_outputs)};
    if (argc != 2) return 1;
    tool = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
