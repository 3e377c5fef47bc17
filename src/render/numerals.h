/* Numbers with a point, whatever the locale of the host program: on the calling thread, between begin and end. */
#ifndef GLS_RENDER_NUMERALS_H
#define GLS_RENDER_NUMERALS_H

#include <locale.h>

typedef struct gls_numerals {
    locale_t plain, before; /* plain: 0 without memory */
} gls_numerals;

static inline gls_numerals gls_numerals_begin(void)
{
    gls_numerals n = {newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), (locale_t)0};
    if (n.plain) n.before = uselocale(n.plain);
    return n;
}

static inline void gls_numerals_end(gls_numerals n)
{
    if (!n.plain) return;
    uselocale(n.before);
    freelocale(n.plain);
}

#endif
