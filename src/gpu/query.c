/* Names and limits of a device, read from the current context when the device is opened, and lowered on request for
 * tests. */

#include <epoxy/gl.h>
#include <glslines/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/query.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

#ifndef GL_SUBGROUP_SIZE_KHR
#define GL_SUBGROUP_SIZE_KHR 0x9532
#define GL_SUBGROUP_SUPPORTED_STAGES_KHR 0x9533
#define GL_SUBGROUP_SUPPORTED_FEATURES_KHR 0x9534
#endif
/* bits of the features basic, vote, ballot and shuffle */
#define SUBGROUP_FEATURES_NEEDED 0x1bu

/* Returns a limit of the driver; 0 if the driver does not know this limit. */
static uint64_t get_limit(GLenum name)
{
    GLint64 value = 0;
    glGetInteger64v(name, &value);
    return value > 0 ? (uint64_t)value : 0;
}

/* Copies a text of the driver, cut to the size of `out`. */
static void copy_gl_string(char *out, size_t size, GLenum name)
{
    const char *text = (const char *)glGetString(name);
    snprintf(out, size, "%s", text ? text : "unknown");
}

/* Reads size and features of subgroups. Leaves both 0 if compute shaders lack a feature that kernels need, or if the
 * size is below 2. */
static void query_subgroup(gls_device_info *info)
{
    if (!epoxy_has_gl_extension("GL_KHR_shader_subgroup")) return;
    GLint size = 0, stages = 0, features = 0;
    glGetIntegerv(GL_SUBGROUP_SIZE_KHR, &size);
    glGetIntegerv(GL_SUBGROUP_SUPPORTED_STAGES_KHR, &stages);
    glGetIntegerv(GL_SUBGROUP_SUPPORTED_FEATURES_KHR, &features);
    if (!(stages & GL_COMPUTE_SHADER_BIT) || size < 2 ||
        ((unsigned)features & SUBGROUP_FEATURES_NEEDED) != SUBGROUP_FEATURES_NEEDED)
        return;
    info->subgroup_size = (uint32_t)size;
    info->subgroup_features = (uint32_t)features;
}

/* Memory of the GPU in bytes, which drivers with GL_NVX_gpu_memory_info give; 0: not known. */
static uint64_t query_memory(void)
{
    GLint kib = 0;
    if (epoxy_has_gl_extension("GL_NVX_gpu_memory_info"))
        glGetIntegerv(GL_GPU_MEMORY_INFO_TOTAL_AVAILABLE_MEMORY_NVX, &kib);
    return (uint64_t)(kib > 0 ? kib : 0) * 1024;
}

/* Lowers the limit of this name, or sets a property such as "software". Returns false if there is no limit or property
 * of this name. */
static bool force_limit(gls_device_info *info, const char *key, uint64_t value)
{
    const struct {
        const char *key;
        uint32_t *limit;
    } words[] = {
        {"storage_bindings", &info->max_storage_bindings},
        {"uniform_bytes", &info->max_uniform_bytes},
        {"texture_3d", &info->max_texture_3d},
        {"texture_units", &info->max_texture_units},
        {"shared_bytes", &info->max_shared_bytes},
        {"work_group_size", &info->max_work_group_size},
        {"work_groups", &info->max_work_groups},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(key, words[i].key) != 0) continue;
        if (value < *words[i].limit) *words[i].limit = (uint32_t)value;
        return true;
    }
    if (!strcmp(key, "storage_bytes")) {
        if (value < info->max_storage_bytes) info->max_storage_bytes = value;
    } else if (!strcmp(key, "texel_bytes")) {
        if (value < info->max_texel_bytes) info->max_texel_bytes = value;
    } else if (!strcmp(key, "float_linear")) {
        if (value == 0) info->float_linear = false;
    } else if (!strcmp(key, "subgroup")) {
        /* the value may exceed the subgroup size of the device, so that sources for other sizes can be inspected */
        info->subgroup_size = (uint32_t)value;
        info->subgroup_features = value ? 0xff : 0;
    } else if (!strcmp(key, "apart")) {
        if (value == 0) info->apart = false;
    } else if (!strcmp(key, "software")) {
        info->software = value != 0;
    } else if (!strcmp(key, "subgroup_features")) {
        info->subgroup_features = (uint32_t)value;
    } else {
        return false;
    }
    return true;
}

/* The minimum limits that every OpenGL ES 3.1 implementation has. */
#define GLES31_LIMITS                                                                                               \
    "storage_bytes=134217728,storage_bindings=4,texel_bytes=0,uniform_bytes=16384,texture_3d=256,texture_units=16," \
    "shared_bytes="                                                                                                 \
    "16384,work_group_size=128,work_groups=65535"

/* Lowers limits, and sets properties such as "software", for tests. Example: "storage_bytes=1048576,software=1".
 * "gles31" stands for the minimum of OpenGL ES 3.1. */
gls_status gls_limits_force(gls_device_info *info, const char *text)
{
    char key[32];
    gls_status status = GLS_OK;
    while (text && *text && !status) {
        int at = 0;
        char *end = NULL;
        size_t length = strcspn(text, ",");
        bool named = sscanf(text, "%31[a-z_0-9]=%n", key, &at) == 1 && gls_is_digit((unsigned char)text[at]);
        uint64_t value = named ? strtoull(text + at, &end, 10) : 0;
        if (length == 6 && strncmp(text, "gles31", 6) == 0)
            status = gls_limits_force(info, GLES31_LIMITS);
        else if (!named || end != text + length || !force_limit(info, key, value))
            status =
                gls_fail(GLS_ERR_ARGUMENT, "GLSLINES_FORCE_LIMITS: '%.*s' is not LIMIT=NUMBER with the name of a limit",
                         (int)length, text);
        text += length;
        if (*text) text++;
    }
    return status;
}

void gls_device_query(gls_device_info *info)
{
    /* Names and version of the interface. */
    copy_gl_string(info->vendor, sizeof info->vendor, GL_VENDOR);
    copy_gl_string(info->renderer, sizeof info->renderer, GL_RENDERER);
    copy_gl_string(info->version, sizeof info->version, GL_VERSION);
    int version = epoxy_gl_version();
    info->gles = !epoxy_is_desktop_gl();
    info->version_major = version / 10;
    info->version_minor = version % 10;
    info->software = strstr(info->renderer, "llvmpipe") || strstr(info->renderer, "softpipe") ||
                     strstr(info->renderer, "lavapipe") || strstr(info->renderer, "SwiftShader");
    /* Limits of kernels, buffers and textures. */
    query_subgroup(info);
    info->max_storage_bytes = get_limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    uint64_t blocks = get_limit(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS),
             bindings = get_limit(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
    info->max_storage_bindings = (uint32_t)(blocks < bindings ? blocks : bindings);
    info->max_uniform_bytes = (uint32_t)get_limit(GL_MAX_UNIFORM_BLOCK_SIZE);
    info->max_texture_3d = (uint32_t)get_limit(GL_MAX_3D_TEXTURE_SIZE);
    info->max_texture_units = (uint32_t)get_limit(GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS);
    /* drivers count the bytes of a buffer in 31 bits */
    const bool has_texels = !info->gles || epoxy_has_gl_extension("GL_EXT_texture_buffer");
    const uint64_t texel_bytes = has_texels ? 16 * get_limit(GL_MAX_TEXTURE_BUFFER_SIZE) : 0;
    info->max_texel_bytes = texel_bytes < INT32_MAX ? texel_bytes : INT32_MAX;
    info->max_shared_bytes = (uint32_t)get_limit(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
    /* freedreno's compiler allows along one axis only half as many invocations as in the whole group */
    GLint along = 0;
    info->max_work_group_size = (uint32_t)get_limit(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
    glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_SIZE, 0, &along);
    if (along > 0 && (uint32_t)along < info->max_work_group_size) info->max_work_group_size = (uint32_t)along;
    GLint groups = 0;
    glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
    info->max_work_groups = groups > 0 ? (uint32_t)groups : 0;
    info->memory_bytes = query_memory();
    info->float_linear = !info->gles || epoxy_has_gl_extension("GL_OES_texture_float_linear");
    info->apart = true; /* OpenGL guarantees separate private arrays; gls_renderer_try() tests it */
    gls_limits_force(info, gls_test_variable("GLSLINES_FORCE_LIMITS"));
}

bool gls_device_has_doubles(const gls_device_info *info)
{
    static const char *const vendors[] = {"NVIDIA", "AMD", "ATI "};
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strstr(info->vendor, vendors[i])) return !info->gles;
    return info->software && !info->gles;
}
