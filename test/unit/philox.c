/* Philox4x32-10 against the known answers that come with Random123 (kat_vectors). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/maths.h"

static void known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t expected[4];
    } answer[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof answer / sizeof *answer; i++) {
        uint32_t out[4];
        gls_philox(answer[i].counter, answer[i].key, out);
        assert_memory_equal(out, answer[i].expected, sizeof out);
    }
}

static void uniform_is_half_open(void **state)
{
    (void)state;
    assert_true(gls_uniform(0) == 0);
    assert_true(gls_uniform(0xff) == 0);
    assert_true(gls_uniform(0x100) == 0x1p-24);
    assert_true(gls_uniform(0xffffffff) == 1 - 0x1p-24);
    assert_true((float)gls_uniform(0xffffffff) < 1.0f);
}

/* Mean, variance and correlation of neighbouring counters, five standard deviations wide. */
static void moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    double sum = 0, square = 0, product = 0, last = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){i, 0, 0, GLS_PHILOX_SEED}, 42, word);
        double u = gls_uniform(word[0]) - 0.5;
        sum += u;
        square += u * u;
        product += u * last;
        last = u;
    }
    assert_true(sum / N > -5 * 6.46e-4 && sum / N < 5 * 6.46e-4);                             /* sqrt(1 / 12 N) */
    assert_true(square / N - 1.0 / 12 > -5 * 1.67e-4 && square / N - 1.0 / 12 < 5 * 1.67e-4); /* sqrt(1 / 180 N) */
    assert_true(product / N > -5 * 1.87e-4 && product / N < 5 * 1.87e-4);                     /* 1 / 12 sqrt(N) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(uniform_is_half_open),
                                       cmocka_unit_test(moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
