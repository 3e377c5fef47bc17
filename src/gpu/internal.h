/* Shared by the files of src/gpu only: the one place where GL and EGL are visible. */
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

/* --- Shared by the files of src/gpu only: the one place where GL and EGL are visible. */

/* The library that the dispatcher takes OpenGL from, and its package. */
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

/* An initialised EGL display; shared by all devices on it, closed with the last. */
typedef struct gls_display {
    gls_platform platform;
    char node[64];
    EGLDeviceEXT egl_device;
    int fd;
    struct gbm_device *gbm;
    EGLDisplay egl;
    char gpu[64]; /* render node of the GPU behind it, "" if unknown */
    unsigned references;
    struct gls_display *next;
} gls_display;

/* A place where a device may be found. */
typedef struct gls_candidate {
    gls_platform platform;
    char node[64];
    EGLDeviceEXT egl_device;
    char place[64];   /* as gpu/drivers.h names it */
    bool last_resort; /* for a renderer on the CPU, where no other place leads to any device */
} gls_candidate;

/* Whether libEGL can be loaded at all; must be asked before any EGL call, because the dispatcher ends the process
 * otherwise. */
bool gls_egl_available(void);
/* Before a device is looked for. */
gls_status gls_egl_check_process(void);
/* Places to look at, in order of preference; returns how many (at most capacity). */
size_t gls_egl_candidates(gls_candidate *candidates, size_t capacity, gls_device_finding finding, void *user);
/* Where Mesa's software renderer may be; returns how many. */
size_t gls_egl_software(gls_candidate candidates[2]);
gls_status gls_display_open(const gls_candidate *candidate, gls_display **display);
void gls_display_close(gls_display *display);
gls_status gls_context_create(gls_display *display, bool gles, EGLContext *context);

#define GLS_SENT_PIECES 4

struct gls_device {
    gls_device_info info;
    gls_display *display;
    EGLContext context;
    pthread_mutex_t lock; /* recursive */
    atomic_uint users;    /* who opened it, unless it was closed, and those who keep it */
    gls_device_memory memory;
    uint64_t memory_limit; /* of gls_device_limit_memory() */
    GLuint staging;        /* of gls_staging_read(), made at its first use, freed with the context */
    const uint8_t *staging_mapped;
    GLuint sending; /* the same of gls_staging_write(), whose pieces are filled in turn */
    uint8_t *sending_mapped;
    GLsync sent[GLS_SENT_PIECES]; /* of each: until the device has emptied it; NULL: it has */
    unsigned next_piece;
    bool lost; /* for good; no call reaches the driver any more */
    const char *lost_why;
    GLenum (*reset_status)(void); /* tells of a reset; NULL where the driver does not notify */
    GLenum injected;              /* error that the driver would have left, GL_NO_ERROR if none */
    bool debug_output;
    gls_kernel_listener listener; /* NULL: none; with the next three */
    void *listener_user;
    bool compiling;
    bool never_wait;
    gls_text messages;                   /* of the driver, on the kernel that is being compiled */
    bool warned_of_half;                 /* that single precision is kept as half */
    struct gls_shared_program *programs; /* of gpu/device_cache.h */
    struct gls_pooled_buffer *pool;
    struct gls_announced *announced; /* kernels that the driver is compiling, of gpu/announce.c */
    uint64_t n_runs;                 /* of kernels so far, and of what gls_order_note() notes */
    uint64_t n_ended;                /* of these, so many have ended, as far as the host has waited for any */
    GLsync mark;                     /* behind the first n_marked of them; NULL: none, or they have ended */
    uint64_t n_marked;
    char lane[112];        /* its name in a timeline; with the next three, of what it is timed for there */
    double ahead;          /* of the host's clock before its own */
    struct gls_span *span; /* not yet in the timeline */
    size_t n_spans;
    bool counts_groups; /* of gpu/internal.h; with the next three, the GL's names and where one is mapped */
    GLuint completion, completion_copy;
    const uint8_t *completion_mapped;
    uint32_t n_groups, n_seen; /* work groups so far, modulo 2^32, and those whose receipts were looked for */
};

/* What the device has to do with a buffer or texture, by numbers of runs. */
typedef struct gls_order {
    uint64_t last_run;  /* the last kernel that had it as an argument */
    uint64_t last_made; /* the last time that the device was told to write it, not by a kernel */
} gls_order;

struct gls_buffer {
    gls_device *device;
    gls_buffer_kind kind;
    size_t size;
    GLuint name;
    gls_order order;
};

struct gls_texture {
    gls_device *device;
    gls_texture_format format; /* as asked for */
    unsigned stored;           /* as it is, see buffer.c */
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

/* Reads limits and names of the current context into info. */
void gls_device_query(gls_device_info *info);
/* Lowers limits as GLSLINES_FORCE_LIMITS says, for tests; text may be NULL. GLS_ERR_ARGUMENT: it cannot be read. */
gls_status gls_limits_force(gls_device_info *info, const char *text);

/* gls_device_hold(), unless the device is lost: then GLS_ERR_LOST, and nothing is held. Every function that calls the
 * driver and can fail starts with it. */
gls_status gls_device_enter(gls_device *device, const char *what);
/* Takes the oldest GL error, if any, and a lost context into a status whose message starts with what. The device must
 * be held. */
gls_status gls_device_check(gls_device *device, const char *what);
/* The same, and asks whether the driver was reset: where the host waits for the device anyway. */
gls_status gls_device_check_reset(gls_device *device, const char *what);
void gls_device_mark_lost(gls_device *device, const char *why);

/* Counts a call that can be made to fail; true: leave the driver alone, the next gls_device_check() finds error. */
static inline bool gls_device_inject(gls_device *device, gls_fault fault, GLenum error)
{
    if (!gls_inject(fault)) return false;
    device->injected = error;
    return true;
}

/* Whether the device can have memory that the host sees, too. */
bool gls_staging_offered(const gls_device *device);
/* Makes such memory, which the host reads or writes (GL_MAP_READ_BIT, GL_MAP_WRITE_BIT), and maps it for good. NULL:
 * there is another way. */
void *gls_staging_memory(GLbitfield way, size_t bytes, GLuint *name);
/* From such memory, by several threads if it is much. */
void gls_staging_copy(void *data, const uint8_t *from, size_t bytes);
/* Whether a buffer of this size is better read through gls_staging_read(), of a byte at least, and there is memory for
 * it. The device must be held. */
bool gls_staging_wanted(gls_device *device, size_t buffer_bytes);
/* Copies a range of a buffer to the host. The device must be held. */
gls_status gls_staging_read(gls_device *device, GLuint source, size_t offset, size_t bytes, void *data);
/* Whether so many bytes are better written through gls_staging_write(), and there is memory for it. The device must be
 * held. */
bool gls_staging_write_wanted(gls_device *device, size_t bytes);
/* Copies from the host into a range of a buffer. The device must be held. */
gls_status gls_staging_write(gls_device *device, GLuint to, size_t offset, size_t bytes, const void *data);

/* The device was told to write a buffer or texture, such as to clear it: counted as the run of a kernel. The device
 * must be held for this and the next two. */
void gls_order_note(gls_device *device, gls_order *order);
/* Who writes or reads: the device, told by the host, or the host itself. */
typedef enum gls_order_side { GLS_BY_DEVICE, GLS_BY_HOST } gls_order_side;
/* Before that: waits for the kernels that have the buffer or texture, and the host for what the device writes there. */
gls_status gls_order_await(gls_device *device, const gls_order *order, gls_order_side side, const char *what);
/* So that this need not wait for the copies that follow the kernels so far. */
void gls_order_mark(gls_device *device);

/* Until the device has come to sync, which is deleted. False if the driver fails or does not answer for ten minutes.
 * The device must be held. */
bool gls_wait_for_fence(GLsync sync);

/* Of kernels of this device. */
static inline gls_prelude gls_prelude_of(const gls_device *device)
{
    const gls_device_info *info = &device->info;
    return (gls_prelude){info->gles, info->gles ? 310 : 430, info->subgroup_features, device->counts_groups,
                         !info->software};
}

/* A linked program, or one that tells in message why it is not. The device must be held. */
GLuint gls_program_link(const char *text, GLint *ok, char *message, GLsizei size);
/* The linked program of a kernel that was announced; 0: none was, or it does not compile. The device must be held. */
GLuint gls_announced_take(gls_device *device, const char *text);
/* Frees the host's part, when the device is closed. */
void gls_announced_finish(gls_device *device);

/* The device's time for the commands between start and stop, which waits for them. The device must be held. */
typedef struct gls_timer {
    GLuint query; /* 0: the host's clock */
    double start;
} gls_timer;
void gls_timer_start(const gls_device *device, gls_timer *timer);
double gls_timer_stop(const gls_device *device, const gls_timer *timer);

/* The commands between the two are a phase of the device in the timeline, where one is kept; nothing waits for them.
 * The device must be held. */
void gls_span_begin(gls_device *device, const char *name);
void gls_span_end(gls_device *device);
/* Adds those that have ended; all of them, for which it waits, if it is told so. */
void gls_spans_take(gls_device *device, bool all);

void gls_device_account(gls_device *device, uint64_t added, uint64_t removed);

/* --- Receipts: each work group of each kernel adds one to a counter of the device when it is done. Drivers of small
 * boards take a kernel that is at work for too long from the GPU, and some of them say nothing of it; what that kernel
 * was to write is then whatever was there before. Where the host reads what kernels wrote it reads the counter, too,
 * and a device whose kernels did not all come to their end counts as lost. */

/* Makes the counter of a new device, unless its driver offers none: kernels then give no receipts. The device must be
 * held for this and all that follows. */
void gls_completion_open(gls_device *device);
/* A kernel was given to the driver, or should have been. */
void gls_completion_expect(gls_device *device, const uint32_t groups[3]);
/* The driver said that it did not take the last kernel, which had so many groups. */
void gls_completion_forgive(gls_device *device, const uint32_t groups[3]);
/* Copies the counter, behind the commands so far and a barrier, into memory that the host sees. Returns what it should
 * be then. */
uint32_t gls_completion_send(gls_device *device, GLuint to, size_t offset);
/* Such a copy has come. GLS_ERR_LOST, and so is the device, if it is too small; what starts the message. */
gls_status gls_completion_take(gls_device *device, uint32_t count, uint32_t expected, const char *what);
/* The same for all kernels so far, for which it waits. What the driver itself says of a failure is to be asked first.
 */
gls_status gls_completion_verify(gls_device *device, const char *what);

#endif
