/* Command lines that do what was done in the window: words for a shell, and regions as text. */
#include "view/command.h"

#include <string.h>

#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

gls_status gls_view_name_check(const char *name)
{
    for (size_t i = 0, n; name && name[i]; i += n)
        if (!(n = gls_utf8_bytes(name + i)))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: is no name in UTF-8, as browsers need it: rename it, or make a link to it", name);
    return GLS_OK;
}

void gls_view_word(gls_text *out, const char *word)
{
    size_t plain = 0;
    while (gls_is_alnum((unsigned char)word[plain]) || (word[plain] && strchr("_@%+=:,./-", word[plain]))) plain++;
    if (*word && !word[plain]) {
        gls_text_puts(out, word);
        return;
    }
    gls_text_puts(out, "'");
    for (; *word; word++) {
        if (*word == '\'')
            gls_text_puts(out, "'\\''");
        else
            gls_text_append(out, word, 1);
    }
    gls_text_puts(out, "'");
}

size_t gls_view_read_words(const gls_tract_common *input, const char *reference, const char **word)
{
    static const char *const axes[] = {[GLS_VTK_SPACE_STATED] = "stated", "ras", "lps"};
    size_t n = 0;
    if (reference) word[n++] = "--reference";
    if (reference) word[n++] = reference;
    if (input->vtk_space) word[n++] = "--vtk-space";
    if (input->vtk_space) word[n++] = axes[input->vtk_space];
    if (input->recover) word[n++] = "--recover";
    return n;
}

gls_status gls_view_region_text(const gls_view_region *region, const char *atlas, gls_text *out)
{
    char text[160];
    double number[6];
    if (region->n > 0) {
        memcpy(number, region->number, sizeof number);
        gls_view_numbers(number, region->n, text);
        gls_text_puts(out, text);
    } else if (region->mask > 0) {
        gls_text_printf(out, "mask-%u.nii.gz", (unsigned)region->mask);
    } else if (atlas) {
        gls_text_printf(out, "%s:%d", atlas, (int)region->label);
    } else {
        return gls_fail(GLS_ERR_ARGUMENT, "labels: give 'glslines view' the option --atlas");
    }
    return out->failed ? gls_no_memory() : GLS_OK;
}
