/* Composes shader sources from files, definitions and slots: replaces each #include by its text. Reads no GL state, so
 * that tests can compare texts without a device. */
#include "gpu/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Maximum nesting of inclusions. Texts that a caller supplies, and lists (.def), could nest without end; any other file
 * is included once. */
#define MAX_DEPTH 32

/* State of composing one source. */
typedef struct composer {
    const gls_define *defines;
    size_t n_defines;
    const char *seen[64]; /* names of the files included so far, except lists (.def) */
    size_t n_seen;
    unsigned depth; /* number of inclusions that the current line is nested in */
    gls_text out;   /* the text so far */
} composer;

/* Text of a shader that is embedded in the library; NULL: there is none. */
static const char *built_in(const char *name)
{
    for (const gls_shader_file *file = gls_shader_files; file->name; file++)
        if (strcmp(file->name, name) == 0) return file->text;
    return NULL;
}

/* Text of a shader file from the folder GLSLINES_SHADER_DIR; NULL: there is none. For tests and developers only. */
static char *read_override(const char *name)
{
    const char *directory = gls_test_variable("GLSLINES_SHADER_DIR");
    char path[4096];
    if (!directory || snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    gls_text text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) gls_text_append(&text, block, n);
    fclose(file);
    return gls_text_take(&text);
}

gls_status gls_shader_text(const char *name, char **text)
{
    char *found = read_override(name);
    if (!found) {
        const char *stored = built_in(name);
        if (!stored) return gls_fail(GLS_ERR_INPUT, "shader file '%s' does not exist", name);
        found = strdup(stored);
        if (!found) return gls_fail(GLS_ERR_MEMORY, "out of memory for shader '%s'", name);
    }
    *text = found;
    return GLS_OK;
}

static gls_status compose_text(composer *self, const char *source);

/* Inserts the text of a slot, each time the slot is named. */
static gls_status compose_slot(composer *self, const char *name)
{
    for (size_t i = 0; i < self->n_defines; i++)
        if (self->defines[i].is_slot && strcmp(self->defines[i].name, name) == 0) {
            if (self->depth == MAX_DEPTH)
                return gls_fail(GLS_ERR_INPUT, "shader slot <%s> includes itself, or is nested too deep", name);
            if (self->defines[i].reason)
                gls_text_printf(&self->out, "// slot <%s>: %s\n", name, self->defines[i].reason);
            return compose_text(self, self->defines[i].value);
        }
    return gls_fail(GLS_ERR_INPUT, "shader slot <%s> is not filled", name);
}

/* Whether a file is a list of rows, which is included each time with other macros. */
static bool is_list(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && strcmp(end, ".def") == 0;
}

/* Appends a file the first time that it is included; lists (.def) are appended each time. */
static gls_status compose_file(composer *self, const char *name)
{
    for (size_t i = 0; i < self->n_seen; i++)
        if (strcmp(self->seen[i], name) == 0) return GLS_OK;
    if (self->depth == MAX_DEPTH)
        return gls_fail(GLS_ERR_INPUT, "shader file '%s' includes itself, or is nested too deep", name);
    if (self->n_seen == sizeof self->seen / sizeof self->seen[0])
        return gls_fail(GLS_ERR_INPUT, "shader file '%s': a shader includes at most %zu files", name,
                        sizeof self->seen / sizeof self->seen[0]);
    char *text = NULL;
    gls_status status = gls_shader_text(name, &text);
    if (status) return status;
    if (!is_list(name)) {
        char *kept = strdup(name);
        if (!kept) {
            free(text);
            return gls_fail(GLS_ERR_MEMORY, "out of memory for shader '%s'", name);
        }
        self->seen[self->n_seen++] = kept;
    }
    status = compose_text(self, text);
    free(text);
    return status;
}

/* Appends a source to the output and replaces each line #include "file" by the file, and #include <slot> by the text of
 * the slot. */
static gls_status compose_text(composer *self, const char *source)
{
    gls_status status = GLS_OK;
    self->depth++;
    while (*source && !status) {
        /* Line by line: only lines that begin with #include are replaced. */
        const char *end = strchr(source, '\n');
        size_t length = end ? (size_t)(end - source) + 1 : strlen(source);
        char name[128];
        if (sscanf(source, "#include \"%127[^\"\n]\"", name) == 1) {
            status = compose_file(self, name);
        } else if (sscanf(source, "#include <%127[^>\n]>", name) == 1) {
            status = compose_slot(self, name);
        } else {
            gls_text_append(&self->out, source, length);
            /* text behind an inclusion starts on a new line */
            if (!end && self->depth > 1) gls_text_puts(&self->out, "\n");
        }
        source += length;
    }
    self->depth--;
    return status;
}

/* Appends #define NAME VALUE with its reason as a comment. */
static void append_definition(gls_text *out, const gls_define *define)
{
    gls_text_puts(out, "#define ");
    gls_text_puts(out, define->name);
    gls_text_puts(out, " ");
    if (define->value) gls_text_puts(out, define->value);
    if (define->reason) {
        gls_text_puts(out, " // ");
        gls_text_puts(out, define->reason);
    }
    gls_text_puts(out, "\n");
}

/* Whether a definition, not a slot, has this name. */
static bool is_defined(const composer *self, const char *name)
{
    for (size_t i = 0; i < self->n_defines; i++)
        if (!self->defines[i].is_slot && strcmp(self->defines[i].name, name) == 0) return true;
    return false;
}

/* The parts come in the order that GLSL demands: the version first, then extensions, the precision of GLES,
 * definitions, and the source with its files and slots in place of their #include lines. */
gls_status gls_shader_compose(const gls_prelude *prelude, const char *source, const gls_define *defines,
                              size_t n_defines, char **text)
{
    composer self = {.defines = defines, .n_defines = n_defines};
    /* Version, extensions and precision. */
    gls_text_printf(&self.out, "#version %d %s\n", prelude->version, prelude->gles ? "es" : "core");
    if (prelude->subgroup_features && is_defined(&self, GLS_DEFINE_SUBGROUPS)) {
        static const char *const parts[] = {"basic", "vote", "ballot", "shuffle"};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            gls_text_printf(&self.out, "#extension GL_KHR_shader_subgroup_%s : require\n", parts[i]);
        if (prelude->subgroup_features & GLS_SUBGROUP_ARITHMETIC)
            gls_text_puts(&self.out, "#extension GL_KHR_shader_subgroup_arithmetic : require\n");
    }
    const bool texels = prelude->gles && is_defined(&self, GLS_DEFINE_TEXELS);
    if (texels) gls_text_puts(&self.out, "#extension GL_EXT_texture_buffer : require\n");
    /* this extension has the keyword `precise`, without which compilers may drop the rounding of a sum */
    if (prelude->gles)
        gls_text_puts(&self.out, "#ifdef GL_EXT_gpu_shader5\n#extension GL_EXT_gpu_shader5 : enable\n#endif\n"
                                 "precision highp float;\nprecision highp int;\nprecision highp sampler3D;\n"
                                 "precision highp usampler3D;\n");
    if (texels) gls_text_puts(&self.out, "precision highp usamplerBuffer;\n");
    for (size_t i = 0; i < n_defines; i++)
        if (!defines[i].is_slot) append_definition(&self.out, &defines[i]);
    /* Wrap main(): the outer one counts each work group that has finished. */
    if (prelude->completion) gls_text_puts(&self.out, "#define main gls_kernel // the last lines have main()\n");
    gls_status status = compose_text(&self, source);
    if (prelude->completion)
        gls_text_printf(&self.out,
                        "\n#undef main\n"
                        "layout(binding = 0, offset = 0) uniform atomic_uint gls_finished_groups;\n"
                        "void main()\n{\n    gls_kernel();\n%s"
                        "    if (gl_LocalInvocationIndex == 0u) atomicCounterIncrement(gls_finished_groups);\n}\n",
                        prelude->in_waves ? "    barrier();\n" : "");
    /* drop the text after a failure, because it may be incomplete */
    for (size_t i = 0; i < self.n_seen; i++) free((char *)self.seen[i]);
    char *composed = gls_text_take(&self.out);
    if (!status && !composed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a shader source");
    if (!status)
        *text = composed;
    else
        free(composed);
    return status;
}
