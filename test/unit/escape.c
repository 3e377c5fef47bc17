/* Names from outside: how they are shown, in JSON, and in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/log.h>

#include "util/text.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text_tables.h"

/* Names with all characters that may cause trouble. */
static const char *const names[] = {"",
                                    "plain",
                                    "=1+1",
                                    "-bundle",
                                    "'=1",
                                    "'",
                                    "'plain'",
                                    "-1.5",
                                    "CST,left",
                                    "say \"x\"",
                                    "\"",
                                    "\"\"",
                                    "tab\there",
                                    "line\nend\r\n",
                                    " blanks ",
                                    "\033]0;title\007\033[2J",
                                    "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\xa7\xa0",
                                    "sujet_\xe9t\xe9",
                                    "\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80 \xe2\x82",
                                    "\xc2\x9b csi \x7f",
                                    "a\xe2\x80\xae txt.exe",
                                    "\\xe9 \\x5c \\x5cxe9 \\x1b \\\\xe9 \\xE9 \\",
                                    "\\\xe9\\xe9"};
#define N_NAMES (sizeof names / sizeof *names)

static void test_shown(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {{"\033]0;T\007.trx", "\\x1b]0;T\\x07.trx"},
                 {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
                 {"\x7f", "\\x7f"},
                 {"\xc2\x9b", "\\u009b"},
                 {"\xc2\xa0\xc3\xa9", "\xc2\xa0\xc3\xa9"},
                 {"\x9b\xe9\xff", "\\x9b\\xe9\\xff"},
                 {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c", "\\u202e\\u2066\\u200f\\u061c"},
                 {"\xe2\x80\xa8\xef\xbb\xbf", "\\u2028\\ufeff"},
                 {"\xf0\x9f\xa7\xa0 \xe2\x80\x8d", "\xf0\x9f\xa7\xa0 \xe2\x80\x8d"},
                 {"\xed\xa0\x80\xc0\xaf", "\\xed\\xa0\\x80\\xc0\\xaf"},
                 {"\\x1b", "\\x1b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[100], again[100];
        gls_escape(cases[i].text, shown, sizeof shown);
        assert_string_equal(shown, cases[i].shown);
        gls_escape(shown, again, sizeof again);
        assert_string_equal(again, shown);
        gls_text text = {0};
        gls_text_show(&text, cases[i].text);
        assert_string_equal(text.data, cases[i].shown);
        gls_text_finish(&text);
        gls_error_set("%s", cases[i].text);
        if (!strchr(cases[i].text, '\r')) assert_string_equal(gls_last_error(), cases[i].shown);
    }
    /* cut between characters */
    char five[5], one[1];
    gls_escape("ab\033", five, sizeof five);
    assert_string_equal(five, "ab");
    gls_escape("abc\xc3\xa9", five, sizeof five);
    assert_string_equal(five, "abc");
    gls_escape("a", one, sizeof one);
    assert_string_equal(one, "");
    gls_text text = {0};
    gls_text_show_lines(&text, "a\tb\n\033", "\n\t");
    assert_string_equal(text.data, "a\tb\n\\x1b");
    gls_text_finish(&text);
}

static void take_line(void *user, gls_log_level level, const char *line)
{
    (void)level;
    strcpy(user, line);
}

static void test_log(void **state)
{
    (void)state;
    char line[100] = "";
    gls_warnings kept;
    gls_log_set(take_line, line, GLS_LOG_INFO);
    gls_warnings_begin(&kept);
    gls_log(GLS_LOG_WARNING, "%s\n", "\033[2J\xe9.trx");
    assert_string_equal(line, "\\x1b[2J\\xe9.trx");
    assert_string_equal(kept.line[0], line);
    /* a warning of a file comes once while a collection is open, which has each line once; any other comes again */
    gls_warn_of_file("%s: mirrored", "a.nii");
    assert_string_equal(line, "a.nii: mirrored");
    *line = '\0';
    gls_warn_of_file("%s: mirrored", "a.nii");
    assert_string_equal(line, "");
    gls_log(GLS_LOG_WARNING, "a.nii: mirrored");
    assert_string_equal(line, "a.nii: mirrored");
    assert_int_equal(kept.n, 2);
    gls_warnings_end(&kept);
    *line = '\0';
    gls_warn_of_file("%s: mirrored", "a.nii");
    assert_string_equal(line, "a.nii: mirrored");
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
}

static bool is_utf8(const char *text)
{
    size_t n;
    while (*text && (n = gls_utf8_bytes(text)) > 0) text += n;
    return !*text;
}

/* The written text is UTF-8, without control characters, and reads back. */
static void test_json(void **state)
{
    (void)state;
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < N_NAMES; i++) {
        cJSON_AddStringToObject(object, names[i], names[i]);
        cJSON_AddItemToObject(object, "list", cJSON_CreateStringArray(&names[i], 1));
    }
    for (int lines = 0; lines < 2; lines++) {
        char *text = lines ? gls_json_print(object) : gls_json_print_line(object);
        assert_true(is_utf8(text));
        for (const char *c = text; *c; c++) assert_true(*c != 0x7f && ((unsigned char)*c >= ' ' || lines));
        assert_null(strstr(text, "\xc2\x9b"));
        assert_null(strstr(text, "\xe2\x80\xae"));
        cJSON *read = gls_json_parse(text);
        assert_non_null(read);
        const cJSON *a = object->child, *b = read->child;
        for (; a && b; a = a->next, b = b->next) {
            assert_string_equal(a->string, b->string);
            if (cJSON_IsString(a)) assert_string_equal(a->valuestring, b->valuestring);
            if (cJSON_IsArray(a)) assert_string_equal(a->child->valuestring, b->child->valuestring);
        }
        assert_true(!a && !b);
        char *again = lines ? gls_json_print(read) : gls_json_print_line(read);
        assert_string_equal(text, again);
        free(again);
        free(text);
        cJSON_Delete(read);
    }
    cJSON_Delete(object);
    /* a text that another program has quoted stays unchanged */
    static const char foreign[] = "{\"path\":\"C:\\\\xavier\\\\xE9\\\\xc3\\\\xa9\\\\x1b\"}";
    cJSON *read = gls_json_parse_whole(foreign, strlen(foreign), NULL);
    assert_string_equal(read->child->valuestring, "C:\\xavier\\xE9\\xc3\\xa9\\x1b");
    char *text = gls_json_print_line(read);
    assert_non_null(strstr(text, "\\\\x1b\"}"));
    free(text);
    cJSON_Delete(read);
    read = gls_json_parse_whole("{\"a\":\"\\\\xe9\"}", strlen("{\"a\":\"\\\\xe9\"}"), NULL);
    assert_string_equal(read->child->valuestring, "\xe9");
    cJSON_Delete(read);
}

static void check_table(char separator)
{
    gls_text text = {0};
    for (size_t i = 0; i < N_NAMES; i++) {
        gls_field_append(&text, names[i], separator);
        gls_text_append(&text, &separator, 1);
        gls_field_append(&text, names[N_NAMES - 1 - i], separator);
        gls_text_puts(&text, i % 2 ? "\r\n" : "\n");
    }
    assert_true(is_utf8(text.data));
    gls_records records = gls_records_begin(text.data, separator);
    char *field[2];
    for (size_t i = 0; i < N_NAMES; i++) {
        assert_int_equal(gls_record_next(&records, field, 2), 2);
        assert_string_equal(field[0], names[i]);
        assert_string_equal(field[1], names[N_NAMES - 1 - i]);
    }
    assert_int_equal(gls_record_next(&records, field, 2), 0);
    gls_text_finish(&text);
}

static void test_tables(void **state)
{
    (void)state;
    check_table(',');
    check_table('\t');
    gls_text text = {0};
    /* formulas of spreadsheets get an apostrophe, numbers none */
    gls_field_append(&text, "=1+1", ',');
    gls_field_append(&text, "@x", ',');
    gls_field_append(&text, "-1e-3", ',');
    assert_string_equal(text.data, "'=1+1'@x-1e-3");
    gls_text_finish(&text);
    gls_field_append(&text, "CST,left", ',');
    gls_text_puts(&text, "|");
    gls_field_append(&text, "CST,left", '\t');
    gls_text_puts(&text, "|");
    gls_field_append(&text, "a\"b\nc", ',');
    gls_text_puts(&text, "|");
    gls_field_show(&text, "a\"\tb\n\033", '\t');
    assert_string_equal(text.data, "\"CST,left\"|CST,left|\"a\"\"b\nc\"|\"a\"\"\\x09b\\x0a\\x1b\"");
    gls_text_finish(&text);
}

static void test_records(void **state)
{
    (void)state;
    char text[] = "\xef\xbb\xbf"
                  "a,\"b\nc\",\n\n\"open,x\n\"q\"r,\"\"\n1,2,3,4";
    gls_records r = gls_records_begin(text, ',');
    char *f[3];
    assert_int_equal(gls_record_bytes(text + 3, "\t,"), strlen("a,\"b\nc\","));
    assert_int_equal(gls_record_next(&r, f, 3), 3);
    assert_string_equal(f[0], "a");
    assert_string_equal(f[1], "b\nc");
    assert_string_equal(f[2], "");
    assert_int_equal(gls_record_next(&r, f, 3), 1);
    assert_string_equal(f[0], "");
    assert_int_equal(r.line, 3);
    assert_int_equal(gls_record_next(&r, f, 3), 2);
    assert_string_equal(f[0], "open,x\nq\"r"); /* text behind the quotes is kept */
    assert_string_equal(f[1], "");
    assert_int_equal(gls_record_next(&r, f, 3), 4);
    assert_int_equal(r.line, 6);
    assert_string_equal(f[2], "3");
    assert_int_equal(gls_record_next(&r, f, 3), 0);
    char lone[] = "\"x,y\n\"";
    r = gls_records_begin(lone + 5, ',');
    assert_int_equal(gls_record_next(&r, f, 3), 1);
    assert_string_equal(f[0], "\""); /* a quote without another is a character */
    char none[] = "";
    r = gls_records_begin(none, ',');
    assert_int_equal(gls_record_next(&r, f, 3), 0);
    char quoted[] = "\"it is \"\"x\"\"\" 7", half[] = "\"half";
    assert_string_equal(gls_field_unquote(quoted), "it is \"x\"");
    assert_null(gls_field_unquote(half));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shown), cmocka_unit_test(test_log),
                                       cmocka_unit_test(test_json), cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
