#include "track/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(gls_define_list *list, const char *name, char *text, bool is_slot)
{
    if (!text || list->n == sizeof list->define / sizeof list->define[0]) {
        list->failed = true;
        free(text);
        return;
    }
    list->owned[list->n] = text;
    list->define[list->n++] = (gls_define){name, text, is_slot, NULL};
}

void gls_define_int(gls_define_list *list, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    add(list, name, strdup(text), false);
}

void gls_define_float(gls_define_list *list, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", value);
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    add(list, name, strdup(text), false);
}

void gls_define_slot(gls_define_list *list, const char *name, char *text)
{
    add(list, name, text, true);
}

void gls_define_mapped(gls_define_list *list, const char *name, const char *base, bool loops)
{
    char text[96];
    snprintf(text, sizeof text, "#include \"%s_%s.glsl\"\n", base, loops ? "looped" : "unrolled");
    add(list, name, strdup(text), true);
}

void gls_define_finish(gls_define_list *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->owned[i]);
    *list = (gls_define_list){0};
}
