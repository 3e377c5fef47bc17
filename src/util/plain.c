/* Numbers and letters as in the C locale, whatever the locale of the program: strtod() and the family of printf() with
 * points in numbers, comparisons without regard to case. */
#include "util/plain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The C locale, made at the first use and never freed. */
static locale_t plain;

/* Makes `plain`; if this fails, `plain` is 0, with which uselocale() changes nothing. */
static void make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t gls_plain_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make);
    return uselocale(plain);
}

void gls_plain_leave(locale_t before)
{
    uselocale(before);
}

double gls_strtod(const char *text, char **end)
{
    locale_t before = gls_plain_enter();
    double value = strtod(text, end);
    gls_plain_leave(before);
    return value;
}

int gls_vsnprintf(char *text, size_t size, const char *format, va_list args)
{
    locale_t before = gls_plain_enter();
    int n = vsnprintf(text, size, format, args);
    gls_plain_leave(before);
    return n;
}

int gls_vasprintf(char **text, const char *format, va_list args)
{
    locale_t before = gls_plain_enter();
    int n = vasprintf(text, format, args);
    gls_plain_leave(before);
    if (n < 0) *text = NULL;
    return n;
}

int gls_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = gls_vsnprintf(text, size, format, args);
    va_end(args);
    return n;
}

int gls_asprintf(char **text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = gls_vasprintf(text, format, args);
    va_end(args);
    return n;
}

int gls_fprintf(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    locale_t before = gls_plain_enter();
    int n = vfprintf(file, format, args);
    gls_plain_leave(before);
    va_end(args);
    return n;
}

int gls_case_compare_n(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int difference = gls_to_lower((unsigned char)a[i]) - gls_to_lower((unsigned char)b[i]);
        if (difference || !a[i]) return difference;
    }
    return 0;
}

int gls_case_compare(const char *a, const char *b)
{
    return gls_case_compare_n(a, b, strlen(a) + 1);
}

char *gls_case_find(const char *text, const char *part)
{
    for (size_t n = strlen(part); *text; text++)
        if (gls_case_compare_n(text, part, n) == 0) return (char *)text;
    return *part ? NULL : (char *)text;
}

bool gls_case_ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && gls_case_compare(name + n - m, suffix) == 0;
}
