/* Finds the key and the range of an option in its row, and reads, writes and copies the value of the option in the
 * struct that the row points into. */
#include "util/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/status.h"

const gls_option *gls_options_find(const gls_option *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* Checks a list of texts. */
static gls_status check_texts(const gls_option *option, const gls_strings *texts)
{
    if (texts->n < 0 || texts->n > GLS_MAX_STRINGS)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: has %d values, but 0 to %d are possible", option->name, texts->n,
                        GLS_MAX_STRINGS);
    for (int i = 0; i < texts->n; i++)
        if (!texts->value[i])
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: value %d (counted from 0) is NULL", option->name, i);
    return GLS_OK;
}

gls_status gls_options_check_values(const gls_option *table, const void *options)
{
    gls_status status = GLS_OK;
    for (; table->name && !status; table++) {
        const void *at = (const char *)options + table->offset;
        const int value = table->kind == GLS_KIND_CHOICE ? *(const int *)at : 0;
        if (value < 0 || (value > 0 && !*GLS_WORD(table->choices, value)))
            status = gls_fail(GLS_ERR_ARGUMENT, "--%s has no value %d", table->name, value);
        const int n = table->kind == GLS_KIND_NUMBERS ? ((const gls_numbers *)at)->n : 0;
        if (n < 0 || n > GLS_MAX_NUMBERS)
            status = gls_fail(GLS_ERR_ARGUMENT, "--%s: has %d values, but 0 to %d are possible", table->name, n,
                              GLS_MAX_NUMBERS);
        if (table->kind == GLS_KIND_STRINGS) status = check_texts(table, at);
    }
    return status;
}

void gls_option_key(const gls_option *option, char *key, size_t size)
{
    /* a key has no slash: s/mm2 becomes s_per_mm2 */
    const char *unit = !option->unit ? "" : strcmp(option->unit, "s/mm2") == 0 ? "s_per_mm2" : option->unit;
    snprintf(key, size, "%s%s%s", option->name, *unit ? "_" : "", unit);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
}

bool gls_option_is_number(const gls_option *option)
{
    return option->kind == GLS_KIND_INT || option->kind == GLS_KIND_UINT64 || option->kind == GLS_KIND_DOUBLE ||
           option->kind == GLS_KIND_LENGTH || option->kind == GLS_KIND_NUMBERS;
}

bool gls_option_is_count(const gls_option *option)
{
    return option->kind == GLS_KIND_UINT64 && (!option->unit || strcmp(option->unit, "seeds") == 0);
}

bool gls_option_takes_value(const gls_option *option)
{
    return option->kind != GLS_KIND_FLAG && option->kind != GLS_KIND_COUNT;
}

gls_option_number gls_option_get_number(const gls_option *option, const void *options)
{
    const char *at = (const char *)options + option->offset;
    switch (option->kind) {
    case GLS_KIND_INT:
    case GLS_KIND_CHOICE: return (gls_option_number){*(const int *)at, false};
    case GLS_KIND_UINT64: return (gls_option_number){(double)*(const uint64_t *)at, false};
    case GLS_KIND_FLAG: return (gls_option_number){*(const bool *)at, false};
    case GLS_KIND_DOUBLE: return (gls_option_number){*(const double *)at, false};
    case GLS_KIND_LENGTH: return (gls_option_number){*(const double *)at, gls_option_in_mm(option, options)};
    default: return (gls_option_number){0, false};
    }
}

void gls_option_set_number(const gls_option *option, void *options, gls_option_number number)
{
    char *at = (char *)options + option->offset;
    bool *mm = gls_option_mm_flag(option, options);
    switch (option->kind) {
    case GLS_KIND_INT:
    case GLS_KIND_CHOICE: *(int *)at = (int)number.value; break;
    case GLS_KIND_UINT64: *(uint64_t *)at = (uint64_t)number.value; break;
    case GLS_KIND_FLAG: *(bool *)at = number.value != 0; break;
    case GLS_KIND_LENGTH:
        if (mm) *mm = number.mm; /* fall through */
    case GLS_KIND_DOUBLE: *(double *)at = number.value; break;
    default: break;
    }
}

size_t gls_option_size(const gls_option *option)
{
    static const size_t size[] = {[GLS_KIND_FLAG] = sizeof(bool),
                                  [GLS_KIND_COUNT] = sizeof(int),
                                  [GLS_KIND_INT] = sizeof(int),
                                  [GLS_KIND_UINT64] = sizeof(uint64_t),
                                  [GLS_KIND_SEED] = sizeof(uint64_t),
                                  [GLS_KIND_DOUBLE] = sizeof(double),
                                  [GLS_KIND_LENGTH] = sizeof(double),
                                  [GLS_KIND_NUMBERS] = sizeof(gls_numbers),
                                  [GLS_KIND_STRINGS] = sizeof(gls_strings),
                                  [GLS_KIND_STRING] = sizeof(const char *),
                                  [GLS_KIND_CHOICE] = sizeof(int)};
    return size[option->kind];
}

gls_range gls_option_range(const gls_option *option)
{
    gls_range range = option->range;
    /* a length may be in voxels, whose size is not known yet: leave its upper bound in mm to later checks */
    if (option->kind == GLS_KIND_LENGTH) range.max = INFINITY;
    if (option->kind == GLS_KIND_UINT64 && range.min == 0 && !range.min_open) range.min = -INFINITY;
    return range;
}

void gls_option_range_text(const gls_option *option, char *buffer, size_t size)
{
    gls_range range = gls_option_range(option);
    *buffer = '\0';
    if (gls_option_is_number(option))
        gls_range_text(&range, option->kind == GLS_KIND_LENGTH ? NULL : option->unit, buffer, size);
}
