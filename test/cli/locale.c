/* Linked into the tool: it becomes a program that sets the locale of its environment, as those may that use the
 * library. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void take_locale(void)
{
    const char *name = getenv("GLS_TEST_LOCALE");
    if (name && setlocale(LC_ALL, name)) return;
    fprintf(stderr, "GLS_TEST_LOCALE: no locale '%s'\n", name ? name : "");
    exit(77);
}
