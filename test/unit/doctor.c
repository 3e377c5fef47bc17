/* The doctor's text if no device can be used: it names the variables that change drivers, and never says that all is
 * well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/probe.h"
#include "check/doctor.h"

/* Returns the doctor's text for no device, from malloc. */
static char *without_device(void)
{
    cJSON *report = cJSON_CreateObject();
    gls_doctor_examine(report, NULL, 0);
    char *text = gls_doctor_text(report);
    cJSON_Delete(report);
    assert_non_null(text);
    return text;
}

static void test_no_device(void **state)
{
    (void)state;
    clearenv();
    char *text = without_device();
    assert_null(strstr(text, "Nothing to fix"));
    assert_null(strstr(text, " is set; "));
    free(text);
}

static void test_variables(void **state)
{
    (void)state;
    static const char *const names[] = {"GALLIUM_DRIVER",
                                        "MESA_LOADER_DRIVER_OVERRIDE",
                                        "MESA_GL_VERSION_OVERRIDE",
                                        "MESA_GLES_VERSION_OVERRIDE",
                                        "MESA_GLSL_VERSION_OVERRIDE",
                                        "MESA_EXTENSION_OVERRIDE",
                                        "MESA_D3D12_DEFAULT_ADAPTER_NAME",
                                        "LIBGL_DRIVERS_PATH",
                                        "LIBGL_ALWAYS_SOFTWARE",
                                        "LIBGL_KOPPER_DISABLE",
                                        "EGL_PLATFORM",
                                        "GBM_BACKEND",
                                        "GBM_BACKENDS_PATH",
                                        "DRI_PRIME",
                                        "VK_ICD_FILENAMES",
                                        "VK_DRIVER_FILES",
                                        "__EGL_VENDOR_LIBRARY_FILENAMES",
                                        "__EGL_VENDOR_LIBRARY_DIRS",
                                        "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS",
                                        "__GLX_VENDOR_LIBRARY_NAME",
                                        "LD_PRELOAD",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clearenv();
        setenv(names[i], "/nowhere", 1);
        char *text = without_device(), line[128], remedy[128];
        snprintf(line, sizeof line, "%s=/nowhere is set; ", names[i]);
        snprintf(remedy, sizeof remedy, "env -u %s glslines devices", names[i]);
        if (!strstr(text, line) || !strstr(text, remedy)) fail_msg("%s: %s", names[i], text);
        free(text);
    }
    clearenv();
}

/* Variables that change no device are not named, and do not count as another state of drivers. */
static void test_other_variables(void **state)
{
    (void)state;
    static const char *const others[] = {"LP_NUM_THREADS=2",
                                         "MESA_SHADER_CACHE_DIR=/x",
                                         "EGL_LOG_LEVEL=debug",
                                         "LD_BIND_NOW=1",
                                         "HOME=/root",
                                         "EGL",
                                         ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_null(gls_driver_variable(others[i]));
    assert_string_equal(gls_driver_variable("GALLIUM_DRIVER=zink"), "Mesa");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_device), cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_other_variables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
