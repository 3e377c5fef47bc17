/* Which renderers are used without a test, and which are tested first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "gpu/renderers.h"
#include "gpu/drivers.h"

static const struct {
    const char *vendor, *renderer;
    bool known, tested;
} rows[] = {
    {"Mesa", "llvmpipe (LLVM 19.1.7, 256 bits)", true, true},
    {"Mesa", "zink Vulkan 1.4(llvmpipe (LLVM 19.1.7, 256 bits) (MESA_LLVMPIPE))", true, true},
    {"NVIDIA Corporation", "NVIDIA H100 80GB HBM3/PCIe/SSE2", true, true},
    {"NVIDIA Corporation", "NVIDIA GeForce RTX 4090/PCIe/SSE2", true, false},
    {"AMD", "AMD Radeon RX 6800 (radeonsi, navi21, LLVM 19.1.7, DRM 3.61, 6.12)", true, false},
    {"AMD", "AMD Radeon RX 480 Graphics (polaris10, LLVM 15.0.6, DRM 3.49)", true, false},
    {"Intel", "Mesa Intel(R) Arc(tm) A770 Graphics (DG2)", true, false},
    {"Mesa/X.org", "softpipe", false, false},
    {"Mesa", "NVK-free nouveau NVF0", false, false},
    {"nouveau", "NV137", false, false},
    {"Broadcom", "V3D 7.1.7.0", false, false},
    {"freedreno", "FD740", false, false},
    {"Panfrost", "Mali-G610 (Panfrost)", false, false},
    {"Microsoft Corporation", "D3D12 (NVIDIA GeForce RTX 3070)", false, false},
    {"Google Inc.", "ANGLE (Google, SwiftShader Device (LLVM 10.0.0))", false, false},
};

static void names(void **state)
{
    (void)state;
    unsetenv("GLSLINES_SELF_TEST");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gls_device_info device = {0};
        snprintf(device.vendor, sizeof device.vendor, "%s", rows[i].vendor);
        snprintf(device.renderer, sizeof device.renderer, "%s", rows[i].renderer);
        assert_int_equal(gls_renderer_is_known(&device), rows[i].known);
        assert_int_equal(gls_renderer_was_tested(&device), rows[i].tested);
        setenv("GLSLINES_SELF_TEST", "0", true);
        assert_true(gls_renderer_is_known(&device));
        setenv("GLSLINES_SELF_TEST", "1", true);
        assert_false(gls_renderer_is_known(&device));
        unsetenv("GLSLINES_SELF_TEST");
    }
}

/* Places from a renderer that gives those of the first of every four to all of them, and from one that is right. */
static void mixed_up(void **state)
{
    (void)state;
    bool differs = false;
    for (uint32_t i = 0; i < GLS_APART_INVOCATIONS; i++)
        for (uint32_t at = 0; at < GLS_APART_PLACES; at++)
            for (uint32_t other = 0; other < GLS_APART_PLACES; other++)
                differs = differs || (at != other && gls_apart_expected(i, at) == gls_apart_expected(i, other));
    assert_false(differs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(mixed_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
