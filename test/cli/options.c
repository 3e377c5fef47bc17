/* The option parser, and the tables of all commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/help.h"
#include "options/parser.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "options/options.h"
#include "util/numbers.h"

typedef struct values {
    cmd_common common;
    bool flag;
    bool own;
    int i, choice, other;
    uint64_t u;
    double d, thin, gap;
    gls_length length;
    uint64_t seed;
    gls_numbers numbers;
    const char *s;
} values;

#define FIELD(f) .offset = offsetof(values, f), .mm_offset = offsetof(values, f) + offsetof(gls_length, mm)
static const gls_option table[] = {
    {.group = "A", .name = "flag", .letter = 'f', .kind = GLS_KIND_FLAG, FIELD(flag), .help = "Flag."},
    {.group = "A",
     .name = "int",
     .letter = 'i',
     .kind = GLS_KIND_INT,
     .metavar = "N",
     .range = {-5, 5, false},
     FIELD(i),
     .help = "Int."},
    {.group = "A",
     .name = "count",
     .kind = GLS_KIND_UINT64,
     .metavar = "N",
     .range = {0, INFINITY, false},
     FIELD(u),
     .help = "Count."},
    {.group = "B",
     .name = "angle",
     .letter = 'a',
     .kind = GLS_KIND_DOUBLE,
     .metavar = "A",
     .unit = "degrees",
     .range = {0, 90, true},
     FIELD(d),
     .help = "Angle."},
    {.group = "B",
     .name = "step",
     .kind = GLS_KIND_LENGTH,
     .metavar = "X",
     .range = {0, INFINITY, true},
     FIELD(length),
     .help = "Step."},
    {.group = "B", .name = "seed", .kind = GLS_KIND_SEED, .metavar = "K", FIELD(seed), .help = "Seed."},
    {.group = "B",
     .name = "shape",
     .kind = GLS_KIND_NUMBERS,
     .metavar = "X Y Z",
     .range = {1, 512, false},
     .integral = true,
     .min_values = 3,
     .max_values = 3,
     FIELD(numbers),
     .help = "Shape."},
    {.group = "B", .name = "text", .letter = 't', .kind = GLS_KIND_STRING, .metavar = "S", FIELD(s), .help = "Text."},
    {.group = "B",
     .name = "kind",
     .kind = GLS_KIND_CHOICE,
     .choices = "one|two|twofold",
     FIELD(choice),
     .help = "Kind."},
    {.group = "B",
     .name = "thin",
     .kind = GLS_KIND_DOUBLE,
     .metavar = "[L=0.1]",
     .unit = "mm",
     .range = {0, 5, false},
     FIELD(thin),
     .help = "Thin."},
    {.group = "B",
     .name = "gap",
     .kind = GLS_KIND_LENGTH,
     .metavar = "X",
     .unit = "mm",
     .range = {0, INFINITY, false},
     .offset = offsetof(values, gap),
     .help = "Gap."},
    {.group = "B",
     .name = "seeds",
     .kind = GLS_KIND_UINT64,
     .metavar = "N",
     .range = {0, 4294967295.0, false},
     FIELD(u),
     .help = "Seeds."},
    {.group = "B", .name = "own", .kind = GLS_KIND_FLAG, FIELD(own), .help = "Own.", .only = "kind one|two"},
    {.group = "B",
     .name = "other",
     .kind = GLS_KIND_INT,
     .metavar = "N",
     .range = {0, 9, false},
     FIELD(other),
     .help = "Other.",
     .only = "kind twofold",
     .since = "0.9.1"},
    {.name = NULL},
};

static void set_defaults(void *out)
{
    *(values *)out = (values){.i = 1, .d = 60, .length = {0.5, false}, .choice = 1, .other = 3};
}

static const cmd_command command = {.name = "test",
                                    .synopsis = "[A B]",
                                    .summary = "s",
                                    .description = "d",
                                    .max_positionals = 2,
                                    .rows = {{.table = table}},
                                    .aliases = (const char *const[]){"bend", "angle", "old-kind", "kind", NULL},
                                    .values_size = sizeof(values),
                                    .set_defaults = set_defaults};

static values got;
static cmd_arguments arguments;
static char error[256];

/* Parses words up to NULL after "glslines test". */
static bool parse(const char *first, ...)
{
    const char *argv[32] = {"glslines", "test"};
    int argc = 2;
    va_list args;
    va_start(args, first);
    for (const char *word = first; word && argc < 32; word = va_arg(args, const char *)) argv[argc++] = word;
    va_end(args);
    set_defaults(&got);
    *error = '\0';
    return cmd_options_parse(&command, argc, (char **)argv, 2, &got, &arguments, error, sizeof error);
}

static void rejects(const char *text, const char *a, const char *b)
{
    assert_false(parse(a, b, NULL));
    if (!strstr(error, text)) fail_msg("'%s' is not in '%s'", text, error);
    assert_null(strchr(error, '\n'));
}

static void accepts_every_form(void **state)
{
    (void)state;
    assert_true(parse("--angle", "45.5", NULL));
    assert_true(got.d == 45.5);
    assert_true(parse("--angle=4.55e1", NULL));
    assert_true(got.d == 45.5);
    assert_true(parse("-a", "45.5", NULL));
    assert_true(got.d == 45.5);
    assert_true(parse("-a45.5", NULL));
    assert_true(got.d == 45.5);
    assert_true(parse("-vfv", "-qa=90", NULL));
    assert_true(got.flag && got.common.verbose == 2 && got.common.quiet && got.d == 90);
    assert_true(parse("--int", "-5", NULL));
    assert_int_equal(got.i, -5);
    assert_true(parse("--angle", "1", "--angle", "2", NULL));
    assert_true(got.d == 2);
    assert_true(parse("--kind", "twofold", NULL));
    assert_int_equal(got.choice, 2);
    assert_true(parse("--text=--flag", NULL));
    assert_string_equal(got.s, "--flag");
    assert_false(got.flag);
    assert_true(cmd_options_given(&arguments, "text"));
    assert_false(cmd_options_given(&arguments, "flag"));
}

static void options_of_one_choice_name_it(void **state)
{
    (void)state;
    assert_true(parse("--own", NULL));
    assert_true(parse("--other", "3", "--kind", "twofold", NULL));
    assert_true(parse("--own", "--kind=one", NULL));
    /* the option also has the value of its row if it is not given */
    rejects("--other: only --kind twofold can use it", "--other=3", NULL);
    rejects("--own: only --kind one and two can use it", "--kind=twofold", "--own");
}

/* The help and the table of a command; the caller frees both. */
static void help_of(const cmd_command *of, char **help, char **markdown)
{
    size_t size;
    FILE *out = open_memstream(help, &size);
    cmd_help(out, of, 80);
    fclose(out);
    out = open_memstream(markdown, &size);
    cmd_help_markdown(out, of);
    fclose(out);
}

static void versions_are_told(void **state)
{
    (void)state;
    char *help, *markdown;
    help_of(&command, &help, &markdown);
    assert_non_null(strstr(help, "Other. [0 to 9; default: 3; since 0.9.1]"));
    assert_non_null(strstr(markdown, "| Other. Since 0.9.1. |"));
    assert_null(strstr(help, "Since"));
    free(help);
    free(markdown);
    /* all options of a new command are as new */
    cmd_command newer = command;
    newer.since = "0.9.1";
    help_of(&newer, &help, &markdown);
    assert_non_null(strstr(help, "\nd\nSince 0.9.1.\n"));
    assert_non_null(strstr(help, "Other. [0 to 9; default: 3]"));
    assert_ptr_equal(strstr(markdown, "Since 0.9.1.\n\n"), markdown);
    assert_null(strstr(markdown, "| Other. Since"));
    free(help);
    free(markdown);
}

static void aliases_are_taken(void **state)
{
    (void)state;
    assert_true(parse("--bend", "45", "--old-kind=one", NULL) && got.d == 45 && got.choice == 0);
    assert_true(cmd_options_given(&arguments, "angle"));
    rejects("did you mean --kind", "--kinds", "one");
    rejects("here it is --kind", "--old_kind", "one");
    rejects("here it is --angle", "-bend", "5");
    /* listed nowhere */
    char *help, *markdown;
    help_of(&command, &help, &markdown);
    assert_non_null(strstr(help, "--angle"));
    assert_null(strstr(help, "bend"));
    free(help);
    free(markdown);
}

static void numbers_may_have_their_unit(void **state)
{
    (void)state;
    assert_true(parse("--angle", "45degrees", NULL) && got.d == 45);
    assert_true(parse("--thin=0.5mm", NULL) && got.thin == 0.5);
    rejects("not a number (in degrees)", "--angle", "45rad");
    rejects("not a number (in degrees)", "--angle", "degrees");
    rejects("not a whole number", "--int", "5mm");
}

static void counts_may_be_in_thousands(void **state)
{
    (void)state;
    assert_true(parse("--count", "10M", NULL) && got.u == 10000000);
    assert_true(parse("--count", "50k", NULL) && got.u == 50000);
    assert_true(parse("--count=1.1M", NULL) && got.u == 1100000);
    assert_true(parse("--seeds", "4G", NULL) && got.u == 4000000000);
    rejects("is out of range", "--seeds", "5G");
    for (size_t i = 0; i < 7; i++)
        rejects("from 0 on", "--count", (const char *const[]){"k", "1.23456k", "-1k", "1e3k", "1kk", "1 k", "1T"}[i]);
}

static void choices_may_be_in_capitals(void **state)
{
    (void)state;
    assert_true(parse("--kind", "Two", NULL) && got.choice == 1);
    assert_string_equal(arguments.taken, "--kind Two: taken as two\n");
    assert_true(parse("--kind", "two", NULL) && !*arguments.taken);
}

static void positionals_stand_anywhere(void **state)
{
    (void)state;
    assert_true(parse("a", "-f", "b", NULL));
    assert_int_equal(arguments.n_positionals, 2);
    assert_string_equal(arguments.positional[1], "b");
    assert_true(parse("--", "-f", "--angle", NULL));
    assert_false(got.flag);
    assert_string_equal(arguments.positional[0], "-f");
    assert_true(parse("-", NULL));
    assert_string_equal(arguments.positional[0], "-");
    assert_false(parse("a", "b", "c", NULL));
    assert_non_null(strstr(error, "'c'"));
}

static void values_in_brackets_may_be_left_out(void **state)
{
    (void)state;
    assert_true(parse("--thin", "a", "b", NULL) && got.thin == 0.1);
    assert_string_equal(arguments.positional[0], "a");
    assert_true(parse("--thin", "0.5", "b", NULL) && got.thin == 0.5);
    assert_int_equal(arguments.n_positionals, 1);
    assert_true(parse("--thin=2", "0.5", NULL) && got.thin == 2);
    assert_string_equal(arguments.positional[0], "0.5");
    assert_true(parse("--thin", NULL) && got.thin == 0.1);
    assert_true(parse("--thin", "0.5mm", NULL) && got.thin == 0.5);
    assert_true(parse("--thin", "0.5cm", NULL) && got.thin == 0.1);
    assert_string_equal(arguments.positional[0], "0.5cm");
    assert_true(parse("--thin", "-f", NULL) && got.thin == 0.1 && got.flag);
    assert_true(parse("--thin", "--angle", "5", NULL) && got.thin == 0.1 && got.d == 5);
    rejects("0 to 5", "--thin", "-1");
    rejects("0 to 5", "--thin", "6");
    rejects("not a number", "--thin=", NULL);
    rejects("not a number", "--thin=a", NULL);
}

static void rejects_bad_values(void **state)
{
    (void)state;
    static const char *const not_numbers[] = {"12abc", "", "nan", "inf", "0x10", " 5", "1,5", "--5", "1e", "1e999"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        char argument[64];
        snprintf(argument, sizeof argument, "--angle=%s", not_numbers[i]);
        rejects("--angle", argument, NULL);
    }
    rejects("more than 0 and at most 90 degrees", "--angle", "0");
    rejects("90 degrees", "--angle", "90.001");
    rejects("-5 to 5", "--int", "6");
    rejects("whole", "--int", "1.5");
    rejects("whole", "--int", "99999999999");
    rejects("--count", "--count", "-1");
    rejects("--count", "--count", "18446744073709551616");
    rejects("from 0 on: must be at most 18446744073709551615", "--count", "1x");
    rejects("from 0 on: must be at most 4294967295", "--seeds", "1x");
    rejects("--seed", "--seed", "Random");
    rejects("one, two, twofold", "--kind", "tw");
    rejects("no value", "--flag=1", NULL);
    rejects("needs a value", "--text", "--flag");
    rejects("needs a value", "--text", NULL);
    rejects("empty", "--text", "");
    rejects("-z", "-fz", NULL);
}

static void suggests_the_nearest(void **state)
{
    (void)state;
    rejects("did you mean --angle?", "--angel", "5");
    rejects("did you mean --shape?", "--shap", "5");
    rejects("did you mean --verbose?", "--verb", NULL);
    assert_false(parse("--quite-another", NULL));
    assert_null(strstr(error, "did you mean"));
}

static void reads_lengths_seeds_and_lists(void **state)
{
    (void)state;
    assert_true(parse("--step", "0.25", NULL) && got.length.value == 0.25 && !got.length.mm);
    assert_true(parse("--step", "0.25vox", NULL) && got.length.value == 0.25 && !got.length.mm);
    assert_true(parse("--step", "1.5mm", NULL) && got.length.value == 1.5 && got.length.mm);
    rejects("--step", "--step", "1cm");
    rejects("--step", "--step", "mm");
    rejects("more than 0", "--step", "0mm");
    assert_true(parse("--seed", "18446744073709551615", NULL) && got.seed == UINT64_MAX &&
                !cmd_options_random(&arguments, "seed"));
    assert_true(parse("--seed", "random", NULL) && cmd_options_random(&arguments, "seed"));
    assert_true(parse("--shape", "40", "52", "38", "a", NULL));
    assert_true(got.numbers.n == 3 && got.numbers.value[2] == 38);
    assert_string_equal(arguments.positional[0], "a");
    assert_true(parse("--shape=40,52,38", "7", NULL));
    assert_true(got.numbers.n == 3 && got.numbers.value[1] == 52);
    assert_string_equal(arguments.positional[0], "7");
    rejects("needs 3 values, got 2", "--shape", "40,52");
    rejects("at most 3", "--shape", "1,2,3,4");
    rejects("whole", "--shape", "1,2.5,3");
    rejects("1 to 512", "--shape", "1,2,513");
}

/* A length without a flag is always in mm; the first byte of the struct is no flag. */
static void lengths_may_always_be_in_mm(void **state)
{
    (void)state;
    char text[64];
    values before, copy;
    set_defaults(&before);
    before.gap = 1.5;
    memset(&before.common, 0, sizeof before.common);
    const gls_option *gap = gls_options_find(table, "gap");
    for (int i = 0; i < 2; i++) {
        assert_true(parse("--gap", i == 0 ? "1.5" : "1.5mm", NULL) && got.gap == 1.5);
        assert_memory_equal(&got.common, &before.common, sizeof got.common);
    }
    rejects("is in voxels, but must be in mm", "--gap", "1.5vox");
    cmd_default_text(gap, &before, text, sizeof text);
    assert_string_equal(text, "1.5 mm");
    assert_true(gls_option_get_number(gap, &before).mm);
    memset(&copy, 255, sizeof copy);
    gls_option_set_number(gap, &copy, (gls_option_number){3, true});
    assert_true(copy.gap == 3);
    assert_int_equal(*(const unsigned char *)&copy, 255);
}

static void defaults_and_ranges_read_well(void **state)
{
    (void)state;
    char text[64];
    values v;
    set_defaults(&v);
    cmd_default_text(&table[3], &v, text, sizeof text);
    assert_string_equal(text, "60 degrees");
    cmd_default_text(&table[4], &v, text, sizeof text);
    assert_string_equal(text, "0.5 voxels");
    cmd_default_text(&table[8], &v, text, sizeof text);
    assert_string_equal(text, "two");
    gls_option_range_text(&table[3], text, sizeof text);
    assert_string_equal(text, "more than 0 and at most 90 degrees");
    gls_option_range_text(&table[2], text, sizeof text);
    assert_string_equal(text, "");
    assert_string_equal(gls_format_count(1234567, text, sizeof text), "1,234,567");
    assert_string_equal(gls_format_count(0, text, sizeof text), "0");
    assert_string_equal(gls_format_bytes(999, text, sizeof text), "999 bytes");
    assert_string_equal(gls_format_bytes(73200000, text, sizeof text), "73.2 MB");
    assert_string_equal(gls_format_duration(3725, text, sizeof text), "1:02:05");
    assert_string_equal(gls_format_double(0.1, text, sizeof text), "0.1");
    assert_string_equal(gls_format_double(-0.0, text, sizeof text), "0");
    assert_true(strtod(gls_format_double(1.0 / 3, text, sizeof text), NULL) == 1.0 / 3);
}

/* Every row is checked, because a single mistake in a table confuses users. */
static void check_table(const cmd_command *c)
{
    char initial[CMD_MAX_VALUES] __attribute__((aligned(16))) = {0}, text[300];
    cmd_table all;
    assert_true(c->values_size <= CMD_MAX_VALUES);
    c->set_defaults(initial);
    cmd_options_list(c, &all);
    for (const char *const *alias = c->aliases; alias && *alias; alias += 2) {
        bool known = false;
        for (size_t i = 0; i < all.n; i++) {
            assert_string_not_equal(alias[0], all.option[i].name);
            known = known || strcmp(alias[1], all.option[i].name) == 0;
        }
        assert_true(known);
    }
    for (size_t i = 0; i < all.n; i++) {
        const gls_option *o = &all.option[i];
        bool value = gls_option_takes_value(o);
        assert_true((i < all.n_own) == (o->offset >= sizeof(cmd_common)) && o->offset < c->values_size);
        assert_true(o->help && o->group && strlen(o->help) >= 4 && strchr(".)", o->help[strlen(o->help) - 1]));
        assert_true((o->kind == GLS_KIND_CHOICE) == (o->choices != NULL));
        assert_true(!value || o->kind == GLS_KIND_CHOICE || o->metavar);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(o->name, all.option[j].name);
            assert_true(!o->letter || o->letter != all.option[j].letter);
            /* a group is one block */
            assert_true(j + 1 == i || strcmp(o->group, all.option[j].group) != 0 ||
                        strcmp(o->group, all.option[i - 1].group) == 0);
        }
        cmd_default_text(o, initial, text, sizeof text);
        if (value && *text && !o->default_text) {
            /* the parser accepts the default that the help shows */
            char argument[400], choice[64], *argv[] = {"glslines", (char *)c->name, argument, choice};
            const int name = o->only ? (int)strcspn(o->only, " ") : 0;
            snprintf(choice, sizeof choice, "--%.*s=%.*s", name, name ? o->only : "",
                     name ? (int)strcspn(o->only + name + 1, "|") : 0, name ? o->only + name + 1 : "");
            char *unit = o->unit ? strstr(text, o->unit) : strstr(text, " voxels");
            if (unit) *unit = '\0';
            while (*text && text[strlen(text) - 1] == ' ') text[strlen(text) - 1] = '\0';
            for (char *b = text; *b; b++)
                if (*b == ' ') *b = ',';
            snprintf(argument, sizeof argument, "--%s=%s", o->name, text);
            char again[CMD_MAX_VALUES] __attribute__((aligned(16)));
            memcpy(again, initial, sizeof again);
            if (!cmd_options_parse(c, name ? 4 : 3, argv, 2, again, &arguments, error, sizeof error))
                fail_msg("%s: %s", argument, error);
            char before[300], after[300];
            cmd_default_text(o, initial, before, sizeof before);
            cmd_default_text(o, again, after, sizeof after);
            assert_string_equal(after, before);
        }
    }
}

static void tables_are_sound(void **state)
{
    (void)state;
    check_table(&command);
    for (const cmd_command *const *c = cmd_commands; *c; c++) check_table(*c);
}

static void every_status_has_an_exit_code(void **state)
{
    (void)state;
    assert_int_equal(cmd_exit_from_status(GLS_OK), 0);
    for (int status = GLS_OK; status <= GLS_ERR_CONVERGENCE; status++) {
        bool listed = false;
        for (size_t i = 0; cmd_exit_text(i); i++)
            listed = listed || cmd_exit_code(i) == (int)cmd_exit_from_status((gls_status)status);
        assert_true(listed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_every_form),
        cmocka_unit_test(options_of_one_choice_name_it),
        cmocka_unit_test(versions_are_told),
        cmocka_unit_test(aliases_are_taken),
        cmocka_unit_test(numbers_may_have_their_unit),
        cmocka_unit_test(counts_may_be_in_thousands),
        cmocka_unit_test(choices_may_be_in_capitals),
        cmocka_unit_test(positionals_stand_anywhere),
        cmocka_unit_test(values_in_brackets_may_be_left_out),
        cmocka_unit_test(rejects_bad_values),
        cmocka_unit_test(suggests_the_nearest),
        cmocka_unit_test(reads_lengths_seeds_and_lists),
        cmocka_unit_test(lengths_may_always_be_in_mm),
        cmocka_unit_test(defaults_and_ranges_read_well),
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(every_status_has_an_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
