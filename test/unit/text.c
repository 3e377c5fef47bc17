/* Text that grows by pieces of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/text.h"

static void test_lengths(void **state)
{
    (void)state;
    char long_word[5000];
    for (size_t n = 1000; n < sizeof long_word; n += 13) {
        gls_text text = {0};
        memset(long_word, 'x', n);
        long_word[n] = '\0';
        gls_text_printf(&text, "%s%s\n", "before ", long_word);
        gls_text_puts(&text, "after");
        assert_int_equal(text.length, n + 13);
        char *all = gls_text_take(&text);
        assert_non_null(all);
        assert_string_equal(all + 7 + n, "\nafter");
        free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
