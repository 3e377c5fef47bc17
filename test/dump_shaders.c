/* Takes the place of the functions of kernels, in a tool of its own: what would be compiled is written to the folder
 * named by GLS_TEST_SHADERS, once as OpenGL and once as OpenGL ES (LABEL.gl.comp, LABEL.es.comp). The first run of a
 * kernel ends the tool with the exit code for what is not supported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/device.h>

#include "gpu/source.h"
#include "util/status.h"

gls_status __wrap_gls_kernel_create(gls_device *device, const char *label, const char *source,
                                    const gls_define *defines, size_t n_defines, gls_kernel **kernel);
void __wrap_gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);
gls_status __wrap_gls_kernel_load(gls_device *device, const char *file, const gls_define *defines, size_t n_defines,
                                  gls_kernel **kernel);
gls_status __wrap_gls_kernel_run(gls_kernel *kernel, const uint32_t groups[3], const gls_arg *args, size_t n_args,
                                 double *gpu_seconds);
void __wrap_gls_kernel_destroy(gls_kernel *kernel);

static gls_status dump(const char *label, const char *source, const gls_define *defines, size_t n_defines, bool gles,
                       uint32_t features)
{
    const gls_prelude prelude = {gles, gles ? 310 : 430, features, true, true};
    const char *folder = getenv("GLS_TEST_SHADERS"), *name = strrchr(label, '/') ? strrchr(label, '/') + 1 : label;
    char path[4096], *text = NULL;
    gls_status status = gls_shader_compose(&prelude, source, defines, n_defines, &text);
    if (status != GLS_OK) return status;
    snprintf(path, sizeof path, "%s/%s.%s.comp", folder ? folder : ".", name, gles ? "es" : "gl");
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) written = false;
    free(text);
    return written ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written", path);
}

gls_status __wrap_gls_kernel_create(gls_device *device, const char *label, const char *source,
                                    const gls_define *defines, size_t n_defines, gls_kernel **kernel)
{
    uint32_t features = gls_device_get_info(device)->subgroup_features;
    gls_status status = dump(label, source, defines, n_defines, false, features);
    if (status == GLS_OK) status = dump(label, source, defines, n_defines, true, features);
    if (status == GLS_OK) *kernel = calloc(1, 1);
    return status;
}

void __wrap_gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines)
{
    (void)device, (void)file, (void)defines, (void)n_defines;
}

gls_status __wrap_gls_kernel_load(gls_device *device, const char *file, const gls_define *defines, size_t n_defines,
                                  gls_kernel **kernel)
{
    char *text = NULL;
    gls_status status = gls_shader_text(file, &text);
    if (status == GLS_OK) status = __wrap_gls_kernel_create(device, file, text, defines, n_defines, kernel);
    free(text);
    return status;
}

gls_status __wrap_gls_kernel_run(gls_kernel *kernel, const uint32_t groups[3], const gls_arg *args, size_t n_args,
                                 double *gpu_seconds)
{
    (void)kernel, (void)groups, (void)args, (void)n_args, (void)gpu_seconds;
    return gls_fail(GLS_ERR_UNSUPPORTED, "kernels were written, not compiled");
}

void __wrap_gls_kernel_destroy(gls_kernel *kernel)
{
    free(kernel);
}
