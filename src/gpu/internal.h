/* Types and functions that the files of src/gpu share. No other files see GL and EGL. */
#ifndef GLS_GPU_INTERNAL_H
#define GLS_GPU_INTERNAL_H

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <pthread.h>
#include <stdatomic.h>

#include <glslines/device.h>

#include "gpu/inject.h"
#include "gpu/source.h"
#include "util/text.h"

/* The library from which libepoxy loads OpenGL, and its Debian package. */
#ifdef GLS_EPOXY_OPENS_LIBGL
#define GLS_NEEDS_LIBGL true
#define GLS_GL_LIBRARY "libGL.so.1"
#define GLS_GL_PACKAGE "libgl1"
#else
#define GLS_NEEDS_LIBGL false
#define GLS_GL_LIBRARY "libOpenGL.so.0"
#define GLS_GL_PACKAGE "libopengl0"
#endif

struct gls_shared_program;
struct gls_pooled_buffer;
struct gls_announced;

/* An initialised EGL display. All devices on it share it; the last one closes it. */
typedef struct gls_display {
    gls_platform platform;
    char node[64];
    EGLDeviceEXT egl_device;
    int fd;
    struct gbm_device *gbm;
    EGLDisplay egl;
    char gpu[64]; /* render node of the GPU behind the display, "" if unknown */
    unsigned references;
    struct gls_display *next;
} gls_display;

/* Number of pieces of the buffer through which the host sends data: the host fills one piece while the device copies
 * from the other pieces. */
#define GLS_SENT_PIECES 4

struct gls_device {
    gls_device_info info;
    gls_display *display;
    EGLContext context;
    pthread_mutex_t lock; /* recursive */
    atomic_uint users;    /* references: one until the device is closed, one for each gls_device_keep() */
    gls_device_memory memory;
    uint64_t memory_limit; /* limit of gls_device_limit_memory(), bytes; 0: none */
    GLuint staging;        /* buffer of gls_staging_read(); made at its first use, freed with the context */
    const uint8_t *staging_mapped;
    GLuint sending; /* buffer of gls_staging_write(); its pieces are filled in turn */
    uint8_t *sending_mapped;
    GLsync
        sent[GLS_SENT_PIECES]; /* for each piece: fence that the device reaches once the piece is empty; NULL: empty */
    unsigned next_piece;
    bool lost; /* true: the device is lost for good; gls_device_enter() fails from then on */
    const char *lost_why;
    GLenum (*reset_status)(void); /* asks the driver for resets; NULL if the driver does not report them */
    GLenum injected;              /* injected error of the driver; GL_NO_ERROR: none */
    bool debug_output;
    gls_kernel_listener listener; /* NULL: none; the members from here to `messages` belong to it */
    void *listener_user;
    bool compiling;
    bool never_wait;
    gls_text messages;   /* messages of the driver about the kernel that is being compiled */
    bool warned_of_half; /* true: the user has been warned that single precision is stored as half precision */
    struct gls_shared_program *programs; /* see gpu/device_cache.h */
    struct gls_pooled_buffer *pool;
    struct gls_announced *announced; /* programs of gls_kernel_announce(), see gpu/device_cache.c */
    uint64_t n_runs;                 /* number of kernel runs, plus number of writes noted by gls_order_note() */
    uint64_t n_ended;                /* the first n_ended runs are known to have ended */
    GLsync mark;                     /* fence behind the first n_marked runs; NULL: none, or they have ended */
    uint64_t n_marked;
    char lane[112];        /* name of the device in the timeline; the members from here to n_spans serve the timeline */
    double ahead;          /* seconds by which the host's clock is ahead of the device's clock */
    struct gls_span *span; /* phases that are not in the timeline yet */
    size_t n_spans;
    bool counts_groups; /* true: finished work groups are counted, see below. completion: GL buffer of the counter;
                           completion_copy: GL buffer of its copy; completion_mapped: this copy in host memory, NULL:
                           not mapped */
    GLuint completion, completion_copy;
    const uint8_t *completion_mapped;
    uint32_t n_groups, n_seen; /* n_groups: number of work groups dispatched, modulo 2^32; n_seen: how many of them have
                                  been checked */
};

/* When the device last used a buffer or texture, as numbers of kernel runs (gls_device.n_runs). */
typedef struct gls_order {
    uint64_t last_run;  /* number of the last kernel run that may use the object; 0: none */
    uint64_t last_made; /* number of the last write by the device that was not a kernel, such as clearing; 0: none */
} gls_order;

struct gls_buffer {
    gls_device *device;
    gls_buffer_kind kind;
    size_t size;
    GLuint name;
    GLuint texels; /* the texture by which shaders read a buffer of texels; 0: none */
    gls_order order;
};

struct gls_texture {
    gls_device *device;
    gls_texture_format format; /* format that the caller asked for */
    unsigned stored;           /* format in which texels are stored, an index of formats[] in buffer.c */
    uint32_t size[3];
    uint64_t bytes;
    GLuint name;
    gls_order order;
};

struct gls_kernel {
    gls_device *device;
    struct gls_shared_program *program;
    char label[48];
};

/* Counts a call that a test can make fail. Returns true if the driver must not be called; the next gls_device_check()
 * then reports `error`. */
static inline bool gls_device_inject(gls_device *device, gls_fault fault, GLenum error)
{
    if (!gls_inject(fault)) return false;
    device->injected = error;
    return true;
}

/* Facts about this device that decide the first and last lines of its shader sources. */
static inline gls_prelude gls_prelude_of(const gls_device *device)
{
    const gls_device_info *info = &device->info;
    return (gls_prelude){info->gles, info->gles ? 310 : 430, info->subgroup_features, device->counts_groups,
                         !info->software};
}

#endif
