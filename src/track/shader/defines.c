/* Definitions and slot contents for the sources of kernels. A failure for lack of memory, or of room in the list, is
 * kept in list->failed, so that callers check once, before they load a kernel. */
#include "track/shader/kernel_inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Takes ownership of text. reason: a few words on the value, for those who read the composed source. */
static void add(gls_define_list *list, const char *name, char *text, bool is_slot, const char *reason)
{
    if (!text || list->n == sizeof list->define / sizeof list->define[0]) {
        list->failed = true;
        free(text);
        return;
    }
    list->owned[list->n] = text;
    list->define[list->n++] = (gls_define){name, text, is_slot, reason};
}

const char *gls_glsl_float(double value, char text[40])
{
    gls_snprintf(text, 38, "%.9g", value);
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    return text;
}

void gls_define_int(gls_define_list *list, const char *name, int64_t value, const char *reason)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    add(list, name, gls_text_copy(text), false, reason);
}

void gls_define_float(gls_define_list *list, const char *name, double value, const char *reason)
{
    char text[40];
    add(list, name, gls_text_copy(gls_glsl_float(value, text)), false, reason);
}

void gls_define_text(gls_define_list *list, const char *name, char *text, const char *reason)
{
    add(list, name, text, false, reason);
}

void gls_define_slot(gls_define_list *list, const char *name, char *text, const char *reason)
{
    add(list, name, text, true, reason);
}

void gls_define_file(gls_define_list *list, const char *name, const char *file, const char *reason)
{
    gls_text text = {0};
    gls_text_printf(&text, "#include \"%s\"\n", file);
    add(list, name, gls_text_take(&text), true, reason);
}

void gls_define_loops(gls_define_list *list, const char *name, const char *base, bool looped)
{
    gls_text text = {0};
    gls_text_printf(&text, "#include \"%s_%s.glsl\"\n", base, looped ? "looped" : "unrolled");
    add(list, name, gls_text_take(&text), true,
        looped ? "loops, shared by the lanes of a streamline" : "written out for one invocation");
}

void gls_define_cut(gls_define_list *list, size_t n)
{
    while (list->n > n) free(list->owned[--list->n]);
}

void gls_define_finish(gls_define_list *list)
{
    gls_define_cut(list, 0);
    *list = (gls_define_list){0};
}
