/* The composer of shader sources, without a device: includes, definitions, and files that stand in for the built-in
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "files.h"
#include "gpu.h"
#include "gpu/source.h"

static const gls_prelude plain = {false, 430, 0, false, false};

static char *compose(const gls_prelude *prelude, const char *source, const gls_define *defines, size_t n)
{
    char *text = NULL;
    assert_ok(gls_shader_compose(prelude, source, defines, n, &text));
    return text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

/* Checks that the source ends with `expected`, after the prelude. */
static void assert_tail(const char *text, const char *expected)
{
    size_t n = strlen(text), m = strlen(expected);
    if (n < m || strcmp(text + n - m, expected) != 0) {
        print_error("got:\n%s\nexpected at its end:\n%s\n", text, expected);
        fail();
    }
}

static void shader_file(const char *name, const char *text)
{
    put_file(scratch(name), text, strlen(text));
}

static void prelude_and_definitions(void **state)
{
    (void)state;
    const gls_define defines[] = {
        {"COUNT", "3", false, NULL}, {"EMPTY", NULL, false, NULL}, {"body", "void main() {}\n", true, NULL}};
    char *text = compose(&plain, "#include <body>\n", defines, 3);
    assert_string_equal(text, "#version 430 core\n#define COUNT 3\n#define EMPTY \nvoid main() {}\n");
    free(text);
    text = compose(&(gls_prelude){true, 310, 0, false, false}, "x\n", NULL, 0);
    assert_true(strncmp(text, "#version 310 es\n", 16) == 0);
    assert_non_null(strstr(text, "precision highp float;\n"));
    assert_non_null(strstr(text, "precision highp sampler3D;\n"));
    assert_tail(text, "\nx\n");
    free(text);
    const gls_define texels = {.name = GLS_DEFINE_TEXELS, .value = "2"};
    text = compose(&(gls_prelude){true, 310, 0, false, false}, "x\n", &texels, 1);
    assert_true(strncmp(text, "#version 310 es\n#extension GL_EXT_texture_buffer : require\n", 59) == 0);
    assert_non_null(strstr(text, "precision highp usamplerBuffer;\n"));
    free(text);
    text = compose(&(gls_prelude){false, 430, 0xff, false, false}, "x\n", &texels, 1);
    assert_null(strstr(text, "#extension"));
    free(text);
    const gls_define subgroups = {.name = GLS_DEFINE_SUBGROUPS, .value = "1"};
    text = compose(&(gls_prelude){false, 430, 0, true, false}, "void main()\n{\n}", NULL, 0);
    assert_string_equal(text,
                        "#version 430 core\n#define main gls_kernel // the last lines have main()\n"
                        "void main()\n{\n}\n#undef main\n"
                        "layout(binding = 0, offset = 0) uniform atomic_uint gls_finished_groups;\n"
                        "void main()\n{\n    gls_kernel();\n"
                        "    if (gl_LocalInvocationIndex == 0u) atomicCounterIncrement(gls_finished_groups);\n}\n");
    free(text);
    text = compose(&(gls_prelude){false, 430, 0xff, false, false}, "x\n", &subgroups, 1);
    static const char *const extensions[] = {"basic", "vote", "ballot", "shuffle", "arithmetic"};
    for (size_t i = 0; i < 5; i++) {
        char line[80];
        snprintf(line, sizeof line, "\n#extension GL_KHR_shader_subgroup_%s : require\n", extensions[i]);
        assert_int_equal(occurrences(text, line), 1);
    }
    free(text);
}

/* The value of a definition may be of any length. */
static void long_texts(void **state)
{
    (void)state;
    size_t n = 100000;
    char *value = malloc(n + 1);
    memset(value, '7', n);
    value[n] = '\0';
    const gls_define defines[] = {{"LONG", value, false, NULL}, {"rows", value, true, NULL}};
    char *text = compose(&plain, "#include <rows>\nend\n", defines, 2);
    assert_int_equal(strlen(text), strlen("#version 430 core\n#define LONG \n\nend\n") + 2 * n);
    free(text);
    free(value);
}

static void every_file_composes(void **state)
{
    (void)state;
    size_t n = 0;
    for (const gls_shader_file *file = gls_shader_files; file->name; file++, n++) {
        char *text = NULL;
        assert_ok(gls_shader_text(file->name, &text));
        assert_string_equal(text, file->text);
        size_t length = strlen(text);
        assert_true(length > 0 && text[length - 1] == '\n');
        free(text);
    }
    assert_true(n >= 10);
}

static void lines_stay_lines(void **state)
{
    (void)state;
    const gls_define defines[] = {{"inner", "one", true, NULL},
                                  {"outer", "before\n#include <inner>\nafter", true, NULL}};
    char *text = compose(&plain, "#include <outer>\n#define NEXT\nlast", defines, 2);
    assert_tail(text, "\nbefore\none\nafter\n#define NEXT\nlast");
    free(text);
    text = compose(&plain, "", NULL, 0);
    assert_string_equal(text, "#version 430 core\n");
    free(text);
}

/* A text given by the caller is put in as often as it is asked for; a file once. */
static void diamonds(void **state)
{
    (void)state;
    shader_file("left.glsl", "#include \"base.glsl\"\nleft\n");
    shader_file("right.glsl", "#include \"base.glsl\"\nright\n");
    shader_file("base.glsl", "base\n");
    setenv("GLSLINES_SHADER_DIR", scratch_folder, 1);
    const gls_define rows = {"rows", "row\n", true, NULL};
    char *text = compose(&plain, "#include \"left.glsl\"\n#include \"right.glsl\"\n#include <rows>\n#include <rows>\n",
                         &rows, 1);
    assert_string_equal(text, "#version 430 core\nbase\nleft\nright\nrow\nrow\n");
    free(text);
    unsetenv("GLSLINES_SHADER_DIR");
}

/* A list of rows is put in each time, for it is read with other macros; one that names itself is refused. */
static void lists(void **state)
{
    (void)state;
    shader_file("rows.def", "ROW(1)\n");
    shader_file("endless.def", "#include \"endless.def\"\n");
    setenv("GLSLINES_SHADER_DIR", scratch_folder, 1);
    char *text = compose(&plain, "#include \"rows.def\"\n#include \"rows.def\"\n", NULL, 0);
    assert_string_equal(text, "#version 430 core\nROW(1)\nROW(1)\n");
    free(text);
    assert_int_equal(gls_shader_compose(&plain, "#include \"endless.def\"\n", NULL, 0, &text), GLS_ERR_INPUT);
    unsetenv("GLSLINES_SHADER_DIR");
}

static void reasons(void **state)
{
    (void)state;
    const gls_define defines[] = {{"COUNT", "3", false, "so many"}, {"rows", "row\n", true, "from the sphere"}};
    char *text = compose(&plain, "#include <rows>\n", defines, 2);
    assert_string_equal(text, "#version 430 core\n#define COUNT 3 // so many\n// slot <rows>: from the sphere\nrow\n");
    free(text);
}

static void cycles(void **state)
{
    (void)state;
    shader_file("a.glsl", "#include \"b.glsl\"\na\n");
    shader_file("b.glsl", "#include \"a.glsl\"\nb\n");
    shader_file("self.glsl", "#include \"self.glsl\"\nself\n");
    setenv("GLSLINES_SHADER_DIR", scratch_folder, 1);
    char *text = compose(&plain, "#include \"a.glsl\"\n#include \"self.glsl\"\n", NULL, 0);
    assert_string_equal(text, "#version 430 core\nb\na\nself\n"); /* each file once */
    free(text);
    unsetenv("GLSLINES_SHADER_DIR");
    const gls_define loop[] = {{"ping", "#include <pong>\n", true, NULL}, {"pong", "#include <ping>\n", true, NULL}};
    text = NULL;
    assert_int_equal(gls_shader_compose(&plain, "#include <ping>\n", loop, 2, &text), GLS_ERR_INPUT);
    assert_message("includes itself");
    assert_null(text);
}

static void missing_files(void **state)
{
    (void)state;
    char *text = NULL;
    assert_int_equal(gls_shader_compose(&plain, "#include \"nowhere.glsl\"\n", NULL, 0, &text), GLS_ERR_INPUT);
    assert_message("nowhere.glsl");
    assert_int_equal(gls_shader_text("nowhere.glsl", &text), GLS_ERR_INPUT);
    assert_message("nowhere.glsl");
    assert_int_equal(gls_shader_text("", &text), GLS_ERR_INPUT);
    char source[400];
    snprintf(source, sizeof source, "#include \"%0300d.glsl\"\n", 0);
    assert_int_equal(gls_shader_compose(&plain, source, NULL, 0, &text), GLS_ERR_INPUT);
    assert_null(text);
    /* a slot is not a file, nor is a definition a slot */
    const gls_define file = {"nowhere.glsl", "1", true, NULL}, plain_define = {"rows", "1", false, NULL};
    assert_int_equal(gls_shader_compose(&plain, "#include \"nowhere.glsl\"\n", &file, 1, &text), GLS_ERR_INPUT);
    assert_message("nowhere.glsl");
    assert_int_equal(gls_shader_compose(&plain, "#include <rows>\n", &plain_define, 1, &text), GLS_ERR_INPUT);
    assert_message("slot <rows> is not filled");
    assert_int_equal(gls_shader_compose(&plain, "#include <base/philox.glsl>\n", NULL, 0, &text), GLS_ERR_INPUT);
    assert_message("slot <base/philox.glsl> is not filled");
    assert_null(text);
}

static void override_folder(void **state)
{
    (void)state;
    setenv("GLSLINES_SHADER_DIR", scratch_folder, 1);
    char *text = NULL;
    assert_ok(gls_shader_text("base/philox.glsl", &text)); /* not there: built in */
    assert_non_null(strstr(text, "philox"));
    free(text);
    assert_int_equal(mkdir(scratch("base"), 0700), 0);
    shader_file("base/philox.glsl", "mine");
    shader_file("new.glsl", "new\n");
    shader_file("empty.glsl", "");
    text = compose(&plain, "#include \"base/philox.glsl\"\n#include \"new.glsl\"\n#include \"empty.glsl\"\nend\n", NULL,
                   0);
    assert_string_equal(text, "#version 430 core\nmine\nnew\nend\n");
    free(text);
    shader_file("base/math.glsl", ""); /* an empty file is a file */
    assert_ok(gls_shader_text("base/math.glsl", &text));
    assert_string_equal(text, "");
    free(text);
    unsetenv("GLSLINES_SHADER_DIR");
    assert_ok(gls_shader_text("base/philox.glsl", &text));
    assert_non_null(strstr(text, "umulExtended"));
    free(text);
}

int main(void)
{
    unsetenv("GLSLINES_SHADER_DIR");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prelude_and_definitions),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(every_file_composes),
        cmocka_unit_test(lines_stay_lines),
        cmocka_unit_test(diamonds),
        cmocka_unit_test(lists),
        cmocka_unit_test(reasons),
        cmocka_unit_test(cycles),
        cmocka_unit_test(missing_files),
        cmocka_unit_test(override_folder),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
