/* A GPU compute device behind OpenGL: discovery, limits, buffers, textures and kernels written in GLSL. Works without a
 * display.
 *
 * Threads: every function may be called from any thread; calls on one device are serialised. gls_device_hold() keeps a
 * device current on the calling thread, which makes a sequence of calls faster. Objects belong to their device and must
 * be destroyed before it; destructors accept NULL.
 *
 * Handles: the library keeps a list of all objects that exist. A function that gets a destroyed object, or one of
 * another kind, returns GLS_ERR_ARGUMENT; a destructor logs an error instead and does nothing. Objects that still exist
 * when their device is closed are freed with the device (if a tracker still uses the device, with the tracker) and
 * reported one by one: as warnings in debug builds, else at debug level. Two errors are not detected: use of a
 * destroyed object whose address a newer object of the same kind has taken, and destruction of an object while another
 * thread uses it. gls_device_hold() and gls_device_release() do not check their argument.
 *
 * fork(): drivers do not work in a child process whose parent has used a device. In such a child gls_device_open() and
 * gls_device_list() return GLS_ERR_DEVICE, and the parent's objects must not be used or destroyed.
 *
 * Failures: a function that reaches the driver returns GLS_ERR_DEVICE_MEMORY where the device's memory ran out,
 * GLS_ERR_DEVICE for other errors of the driver and GLS_ERR_LOST once the device is lost, because its driver was reset
 * or the hardware was unplugged. Objects of a lost device can only be destroyed, and the device can only be closed; a
 * new device may be opened, also on the same hardware. Kernels run asynchronously, so a later call may report their
 * failure, at the latest a call that waits for them. Drivers of small boards stop kernels that take long without an
 * error; therefore, when a buffer is read and a kernel did not run to its end, the device counts as lost, too. */
#ifndef GLSLINES_DEVICE_H
#define GLSLINES_DEVICE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_device gls_device;
typedef struct gls_buffer gls_buffer;
typedef struct gls_texture gls_texture;
typedef struct gls_kernel gls_kernel;

/* The platform through which a device is reached. */
typedef enum gls_platform {
    GLS_PLATFORM_GBM,        /* a render node, /dev/dri/renderD* */
    GLS_PLATFORM_EGL_DEVICE, /* EGL device enumeration: NVIDIA without a render node */
    GLS_PLATFORM_SURFACELESS /* Mesa without a device: llvmpipe */
} gls_platform;

/* Operations of a subgroup besides the basic and voting functions: bits of subgroup_features. */
typedef enum gls_subgroup_feature {
    GLS_SUBGROUP_ARITHMETIC = 0x4, /* sums, maxima and minima in one call */
    GLS_SUBGROUP_BALLOT = 0x8,
    GLS_SUBGROUP_SHUFFLE = 0x10,
    GLS_SUBGROUP_SHUFFLE_RELATIVE = 0x20,
    GLS_SUBGROUP_CLUSTERED = 0x40,
    GLS_SUBGROUP_QUAD = 0x80
} gls_subgroup_feature;

/* Properties and limits of a device. Sizes in bytes. */
typedef struct gls_device_info {
    int index; /* index in gls_device_list() */
    gls_platform platform;
    char node[64]; /* "/dev/dri/renderD128" or "" */
    char vendor[64];
    char renderer[160];
    char version[128]; /* GL_VERSION */
    bool gles;         /* an OpenGL ES context instead of core OpenGL */
    int version_major, version_minor;
    bool software;                 /* a renderer on the CPU */
    uint32_t subgroup_size;        /* invocations of a subgroup, 0 without KHR_shader_subgroup (basic, vote, ballot,
                                      shuffle) in compute shaders */
    uint32_t subgroup_features;    /* bits of gls_subgroup_feature; 0 if subgroup_size is 0 */
    uint64_t max_storage_bytes;    /* largest shader storage binding */
    uint32_t max_storage_bindings; /* number of shader storage blocks in a compute shader, and of binding points */
    uint32_t max_uniform_bytes;    /* largest uniform block */
    uint32_t max_texture_3d;       /* texels along each axis of a 3D texture */
    uint32_t max_texture_units;    /* textures in a compute shader */
    uint64_t max_texel_bytes;      /* largest buffer of texels, 0 where there are none, as in OpenGL ES 3.1 */
    uint32_t max_shared_bytes;     /* shared memory of a work group */
    uint32_t max_work_group_size;  /* invocations of a work group */
    uint32_t max_work_groups;      /* work groups along x */
    bool float_linear; /* textures of single precision can be filtered; otherwise they are stored in half precision */
    bool apart; /* private arrays of the invocations of a work group are separate, as GLSL requires. false: the driver
                   mixes up their values, and tracking uses work groups of one invocation */
    uint64_t memory_bytes; /* size of the video memory if the driver reports it, else 0 */
} gls_device_info;

/* The graphics interface of a context. */
typedef enum gls_graphics {
    GLS_GRAPHICS_AUTO, /* OpenGL if the device offers both */
    GLS_GRAPHICS_GL,   /* OpenGL 4.3 */
    GLS_GRAPHICS_GLES  /* OpenGL ES 3.1 */
} gls_graphics;

/* Receives one line for each finding in the search for devices, for diagnosis, e.g. "/dev/dri/renderD128: permission
 * denied". */
typedef void (*gls_device_finding)(void *user, bool usable, const char *line);

/* Lists the devices on which a compute context can be made, best first: GBM render nodes, EGL devices, then the
 * surfaceless platform. A device that can be reached in two ways is listed once. Free *list by gls_free(). An empty
 * list is not an error. finding may be NULL. */
GLS_API gls_status gls_device_list(gls_graphics api, gls_device_info **list, size_t *n, gls_device_finding finding,
                                   void *user);

/* Returns the name, e.g. "/dev/dri/renderD128", of the i-th device that is left out because its driver crashed or did
 * not answer; NULL: there are no more. *reason (may be NULL) gets the reason. Both are valid until the next
 * gls_device_list(). On a machine with a GPU, gls_device_list() and the first gls_device_open() of a process try all
 * drivers in a child process first, unless the user's cache folder holds the result of an earlier search. A process
 * that has used EGL before does not try them. Since 0.2.0. */
GLS_API const char *gls_device_failure(size_t i, const char **reason);

/* Opens a device. name: "auto" or NULL (hardware before software), "gpu" (hardware only), "cpu" or "llvmpipe" (the
 * software renderer), an index into gls_device_list(), a node path, or a part of the renderer's name. GLS_ERR_DEVICE
 * says what was looked for. api: as for gls_device_list(); the indices of the list depend on it. */
GLS_API gls_status gls_device_open(const char *name, gls_graphics api, gls_device **device);
/* Opens n devices: the device that gls_device_open() opens (name NULL: as there), and n - 1 more. With a software
 * renderer the additional devices are further contexts of the same renderer; with hardware they are the next devices in
 * gls_device_list() that have the same renderer, or any renderer if name is "auto" or "gpu". If there are fewer than n,
 * no device is opened, and GLS_ERR_DEVICE says how many there are. devices: memory for n. */
GLS_API gls_status gls_device_open_several(const char *name, gls_graphics api, size_t n, gls_device **devices);
/* Opens another context, with the same interface and limits, on the hardware of `device`, also if `device` is lost.
 * Both may be closed in any order. */
GLS_API gls_status gls_device_reopen(const gls_device *device, gls_device **another);
/* Closes the device and frees the objects on it that still exist, see above. Accepts NULL. */
GLS_API void gls_device_close(gls_device *device);
/* Properties of the device; valid until it is closed. NULL for a device that does not exist any more. */
GLS_API const gls_device_info *gls_device_get_info(const gls_device *device);

/* Makes the device current on this thread until the matching release. Calls nest, also for different devices, with at
 * most 16 changes of the device. Afterwards the previous context is current again, the application's own EGL context
 * included. Hold no device while a function works with several devices, which it uses on threads of its own. */
GLS_API void gls_device_hold(gls_device *device);
GLS_API void gls_device_release(gls_device *device);

/* Receives what is known of a compiled kernel. seconds: time of the compilation and of the first run; messages: the
 * driver's, e.g. about registers, one in a line; "" if there are none. */
typedef void (*gls_kernel_listener)(void *user, const char *label, double seconds, const char *messages);
typedef enum gls_listen_wait { GLS_LISTEN_WAIT, GLS_LISTEN_NEVER_WAIT } gls_listen_wait;
/* Reports each kernel that is compiled on the device from now on, for diagnosis. The kernel is also run once, on
 * buffers of zeros, because some drivers compile only at the first run. With GLS_LISTEN_NEVER_WAIT nothing waits for
 * the device any more, so that a driver can be checked without its hardware; whatever is read from the device is then
 * undefined. */
GLS_API gls_status gls_device_listen(gls_device *device, gls_kernel_listener listener, void *user,
                                     gls_listen_wait wait);

/* Waits for all work on the device and returns the errors of this work. */
GLS_API gls_status gls_device_synchronize(gls_device *device);

typedef struct gls_device_memory {
    uint64_t allocated_bytes; /* size of the existing buffers and textures */
    uint64_t peak_bytes;      /* largest value of allocated_bytes since the device was opened */
    size_t n_buffers, n_textures, n_kernels;
    uint64_t cached_bytes; /* storage of destroyed buffers kept for new ones; not part of allocated_bytes */
    size_t n_cached_buffers;
    size_t n_cached_programs; /* compiled programs that no kernel uses, kept for later kernels with the same source */
} gls_device_memory;
/* Memory that the library's objects on the device take at this moment. */
GLS_API gls_device_memory gls_device_get_memory(const gls_device *device);
/* Limits the memory of buffers and textures together, in bytes: allocations beyond it fail as if the device's memory
 * had run out. 0, the default: no limit. gls_device_info.memory_bytes is lowered to the limit, or set to it if it was
 * 0. Contexts opened from this device have the limit, too. */
GLS_API gls_status gls_device_limit_memory(gls_device *device, uint64_t bytes);
/* Frees the cache, which holds at most 64 buffers of 64 MiB together, and 64 programs. The library does this itself
 * when the memory of the device runs out. */
GLS_API gls_status gls_device_clear_cache(gls_device *device);

/* --- buffers -------------------------------------------------------------- */

typedef enum gls_buffer_kind {
    GLS_BUFFER_STORAGE, /* shader storage */
    GLS_BUFFER_UNIFORM, /* uniform block */
    GLS_BUFFER_TEXELS   /* texels of four integers, a usamplerBuffer; as an argument its slot is a texture unit */
} gls_buffer_kind;

/* Creates a buffer of bytes >= 1; its contents are undefined until they are cleared or written. label: for debuggers
 * and messages; NULL: none. GLS_ERR_UNSUPPORTED: larger than the device's limit; GLS_ERR_DEVICE_MEMORY: out of
 * memory. */
GLS_API gls_status gls_buffer_create(gls_device *device, gls_buffer_kind kind, size_t bytes, const char *label,
                                     gls_buffer **buffer);
/* Frees `buffer`, which may be NULL. Kernels that were given it still run to their end. */
GLS_API void gls_buffer_destroy(gls_buffer *buffer);
/* Size in bytes, as given to gls_buffer_create(). */
GLS_API size_t gls_buffer_size(const gls_buffer *buffer);
/* Sets all bytes of the buffer to 0. */
GLS_API gls_status gls_buffer_clear(gls_buffer *buffer);
/* Copies to or from a range of the buffer. Reading waits for work that writes the range; writing and clearing wait for
 * kernels that use the buffer, so use two buffers in turn to keep a device busy. GLS_ERR_ARGUMENT: the range is outside
 * the buffer. */
GLS_API gls_status gls_buffer_write(gls_buffer *buffer, size_t offset, size_t bytes, const void *data);
GLS_API gls_status gls_buffer_read(gls_buffer *buffer, size_t offset, size_t bytes, void *data);

/* --- textures ------------------------------------------------------------- */

typedef enum gls_texture_format {
    GLS_TEXTURE_R32F,
    GLS_TEXTURE_RGBA16F,
    GLS_TEXTURE_RGBA32F,
    GLS_TEXTURE_R16F,
    GLS_TEXTURE_R32UI /* integers, for texelFetch() only: written by gls_texture_write_texels() */
} gls_texture_format;

/* Creates a 3D texture of zeros, clamped at its edges, with linear filtering (GLS_TEXTURE_R32UI: without). size: texels
 * along x, y and z, each >= 1; label and errors: as for gls_buffer_create(). On a device without float_linear a texture
 * of single precision is stored in half precision, and larger values become 65504; a warning says so once. Write only
 * finite values: a NaN beside a sampled position makes the sample NaN, even with weight 0. */
GLS_API gls_status gls_texture_create(gls_device *device, gls_texture_format format, const uint32_t size[3],
                                      const char *label, gls_texture **texture);
/* Frees `texture`, which may be NULL. */
GLS_API void gls_texture_destroy(gls_texture *texture);
/* Writes a box from float32 values (1 or 4 for each texel, x fastest), converted to the format. */
GLS_API gls_status gls_texture_write(gls_texture *texture, const uint32_t origin[3], const uint32_t size[3],
                                     const float *data);
/* Like gls_texture_write(), from values in the texture's own format: float16 (as uint16_t) for R16F and RGBA16F,
 * uint32_t for R32UI, else float32. */
GLS_API gls_status gls_texture_write_texels(gls_texture *texture, const uint32_t origin[3], const uint32_t size[3],
                                            const void *texels);

/* --- kernels -------------------------------------------------------------- */

/* A preprocessor definition, or with is_slot a text that replaces each line `#include <name>`. A line `#include "file"`
 * always means a file of the shader library. reason (NULL: none) says in a few words why the value is what it is; it
 * follows the definition in dumped and logged sources. */
typedef struct gls_define {
    const char *name;
    const char *value;
    bool is_slot;
    const char *reason;
} gls_define;

/* A definition of this name enables the directives for the parts of KHR_shader_subgroup that the device has. */
#define GLS_DEFINE_SUBGROUPS "SUBGROUPS"
/* One of this name enables buffers of texels in OpenGL ES. */
#define GLS_DEFINE_TEXELS "TEXEL_QUADS"

/* Compiles a compute shader. source has no #version line: the device's prelude, the definitions and the included files
 * of the built-in shader library are put in front of it. A failed compilation is GLS_ERR_DEVICE with the driver's
 * first message, and logs the numbered source at debug level. main() becomes gls_kernel(), behind which each work group
 * adds one to the atomic counter gls_finished_groups at binding 0: the source must not use these names and this
 * binding. GLS_ERR_UNSUPPORTED for more storage blocks, texture units or invocations of a work group than the device's
 * info says. */
GLS_API gls_status gls_kernel_create(gls_device *device, const char *label, const char *source,
                                     const gls_define *defines, size_t n_defines, gls_kernel **kernel);
/* Like gls_kernel_create(), for a file of the shader library, e.g. "kernel/track.comp". */
GLS_API gls_status gls_kernel_load(gls_device *device, const char *file, const gls_define *defines, size_t n_defines,
                                   gls_kernel **kernel);
/* Frees `kernel`, which may be NULL. The compiled program stays in the device's cache, see gls_device_clear_cache(). */
GLS_API void gls_kernel_destroy(gls_kernel *kernel);

typedef enum gls_arg_kind {
    GLS_ARG_BUFFER,
    GLS_ARG_UNIFORMS,
    GLS_ARG_TEXTURE,
    GLS_ARG_INT,
    GLS_ARG_UINT,
    GLS_ARG_FLOAT
} gls_arg_kind;

/* One argument of a kernel. slot: the binding of a storage block, uniform block or texture unit, or the location of a
 * scalar uniform. */
typedef struct gls_arg {
    gls_arg_kind kind;
    uint32_t slot;
    union {
        gls_buffer *buffer;
        gls_texture *texture;
        int32_t i;
        uint32_t u;
        float f;
    } value;
} gls_arg;

static inline gls_arg gls_arg_buffer(uint32_t slot, gls_buffer *buffer)
{
    gls_arg arg = {GLS_ARG_BUFFER, slot, {0}};
    arg.value.buffer = buffer;
    return arg;
}
static inline gls_arg gls_arg_uniforms(uint32_t slot, gls_buffer *buffer)
{
    gls_arg arg = {GLS_ARG_UNIFORMS, slot, {0}};
    arg.value.buffer = buffer;
    return arg;
}
static inline gls_arg gls_arg_texture(uint32_t slot, gls_texture *texture)
{
    gls_arg arg = {GLS_ARG_TEXTURE, slot, {0}};
    arg.value.texture = texture;
    return arg;
}
static inline gls_arg gls_arg_int(uint32_t slot, int32_t i)
{
    gls_arg arg = {GLS_ARG_INT, slot, {0}};
    arg.value.i = i;
    return arg;
}
static inline gls_arg gls_arg_uint(uint32_t slot, uint32_t u)
{
    gls_arg arg = {GLS_ARG_UINT, slot, {0}};
    arg.value.u = u;
    return arg;
}
static inline gls_arg gls_arg_float(uint32_t slot, float f)
{
    gls_arg arg = {GLS_ARG_FLOAT, slot, {0}};
    arg.value.f = f;
    return arg;
}

/* Runs groups[0] x groups[1] x groups[2] work groups. Every argument has to be given at every run, scalars too: kernels
 * of the same source share them. GLS_ERR_ARGUMENT for an object of another device or a scalar of another type than the
 * kernel's uniform. Later kernels and reads see what this one wrote. If gpu_seconds is not NULL, waits and stores the
 * device's time; where the driver does not measure it (a software renderer, OpenGL ES without
 * GL_EXT_disjoint_timer_query), the host's. */
GLS_API gls_status gls_kernel_run(gls_kernel *kernel, const uint32_t groups[3], const gls_arg *args, size_t n_args,
                                  double *gpu_seconds);

#ifdef __cplusplus
}
#endif
#endif
