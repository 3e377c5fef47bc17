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

/* A way to a device that a search tries. Its name is called a place, see gpu/drivers.h. */
typedef struct gls_candidate {
    gls_platform platform;
    char node[64];
    EGLDeviceEXT egl_device;
    char place[64];   /* name of this way, see gpu/drivers.h */
    bool last_resort; /* true: a renderer on the CPU, which is tried only if no other candidate gives a device */
} gls_candidate;

/* Whether libEGL, and the library of OpenGL or of OpenGL ES, can be loaded. Ask before any EGL call: libepoxy ends the
 * process where a library is missing. */
bool gls_egl_available(void);
/* Checks, before a device is searched, that this process may use EGL: drivers do not survive fork(). */
gls_status gls_egl_check_process(void);
/* Lists the candidates of a search, the preferred ones first, at most capacity of them. Returns their number. finding
 * (may be NULL) gets a line for each obstacle, such as a render node that this user may not open. */
size_t gls_egl_candidates(gls_candidate *candidates, size_t capacity, gls_device_finding finding, void *user);
/* Lists the candidates that may lead to Mesa's software renderer. Returns their number, 0 to 2. */
size_t gls_egl_software(gls_candidate candidates[2]);
/* Opens the display of a candidate, or adds a reference if it is open, and creates a context without a surface on it,
 * with OpenGL 4.3, or with OpenGL ES 3.1 if gles. GLS_ERR_DEVICE gives the reason of a failure; if *display is not NULL
 * then, the caller closes it. */
gls_status gls_egl_open(const gls_candidate *candidate, bool gles, gls_display **display, EGLContext *context);
/* Drops a reference; the last one closes the display. */
void gls_display_close(gls_display *display);

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

/* Reads names and limits of the current context into info. */
void gls_device_query(gls_device_info *info);
/* Lowers limits and sets properties as the text of GLSLINES_FORCE_LIMITS says, for tests. text NULL: changes nothing.
 * GLS_ERR_ARGUMENT: invalid text. */
gls_status gls_limits_force(gls_device_info *info, const char *text);

/* Turns the oldest GL error, or a lost context, into a status. what: start of the message. The device must be held. */
gls_status gls_device_check(gls_device *device, const char *what);
/* Like gls_device_check(), and asks whether the driver was reset. Call it where the host waits for the device
 * anyway. */
gls_status gls_device_check_reset(gls_device *device, const char *what);
/* Marks the device as lost for good. why: a constant text for messages. */
void gls_device_mark_lost(gls_device *device, const char *why);

/* Counts a call that a test can make fail. Returns true if the driver must not be called; the next gls_device_check()
 * then reports `error`. */
static inline bool gls_device_inject(gls_device *device, gls_fault fault, GLenum error)
{
    if (!gls_inject(fault)) return false;
    device->injected = error;
    return true;
}

/* Whether the device can have memory that host and device both see. */
bool gls_staging_offered(const gls_device *device);
/* Creates a buffer in memory that host and device both see, and maps it until it is deleted. way: GL_MAP_READ_BIT or
 * GL_MAP_WRITE_BIT, for the host. Returns NULL where there is no such memory. */
void *gls_staging_memory(GLbitfield way, size_t bytes, GLuint *name);
/* Copies bytes from or to memory that host and device both see, by several threads if there are many bytes. */
void gls_staging_copy(void *data, const uint8_t *from, size_t bytes);
/* Whether reading from a buffer of this size is faster through gls_staging_read(), and memory for it is available. The
 * device must be held. */
bool gls_staging_wanted(gls_device *device, size_t buffer_bytes);
/* Copies a range of a buffer to the host, at least one byte. The device must be held. */
gls_status gls_staging_read(gls_device *device, GLuint source, size_t offset, size_t bytes, void *data);
/* Whether writing so many bytes is faster through gls_staging_write(), and memory for it is available. The device must
 * be held. */
bool gls_staging_write_wanted(gls_device *device, size_t bytes);
/* Copies data of the host into a range of a buffer. The device must be held. */
gls_status gls_staging_write(gls_device *device, GLuint to, size_t offset, size_t bytes, const void *data);

/* Notes a write by the device that is not a kernel, such as clearing a buffer; the write counts as a kernel run. The
 * device must be held for the three functions gls_order_...(). */
void gls_order_note(gls_device *device, gls_order *order);
/* Who reads or writes next: the device, by a command of the host, or the host itself. */
typedef enum gls_order_side { GLS_BY_DEVICE, GLS_BY_HOST } gls_order_side;
/* Waits, before the next read or write, for the kernels that use the buffer or texture and, if side is GLS_BY_HOST, for
 * earlier writes by the device. Does not wait on a software renderer, or if never_wait is set. GLS_ERR_DEVICE: the
 * device does not answer. what: start of the message. */
gls_status gls_order_await(gls_device *device, const gls_order *order, gls_order_side side, const char *what);
/* Sets a fence behind the kernels so far, so that gls_order_await() need not wait for copies that follow them. */
void gls_order_mark(gls_device *device);

/* Waits until the device reaches the fence, and deletes the fence. Returns false if the driver fails or does not answer
 * for ten minutes. The device must be held. */
bool gls_wait_for_fence(GLsync sync);

/* Facts about this device that decide the first and last lines of its shader sources. */
static inline gls_prelude gls_prelude_of(const gls_device *device)
{
    const gls_device_info *info = &device->info;
    return (gls_prelude){info->gles, info->gles ? 310 : 430, info->subgroup_features, device->counts_groups,
                         !info->software};
}

/* Compiles and links a program, which the caller deletes, also if it did not link. *ok: whether it linked; if not,
 * message gets the reason in one line. The device must be held. */
GLuint gls_program_link(const char *text, GLint *ok, char *message, GLsizei size);
/* Waits until the program of this source is linked, which gls_kernel_announce() had the driver compile early. Returns
 * the program, which the caller then owns; 0: the source was not announced, or does not compile. The device must be
 * held. */
GLuint gls_announced_take(gls_device *device, const char *text);

/* Begins a phase of the device in the timeline: the commands until gls_span_end(). Does nothing if phases are not
 * measured (see timer.c). name: a constant. Does not wait. The device must be held. */
void gls_span_begin(gls_device *device, const char *name);
/* Ends the phase that gls_span_begin() began. */
void gls_span_end(gls_device *device);
/* Moves finished phases to the timeline. all: waits for all phases. */
void gls_spans_take(gls_device *device, bool all);

/* --- Completion count: each work group adds one to a counter on the device when it is done. Drivers of small boards
 * stop a kernel that runs too long, and some do not report it: the output then keeps whatever was there before. So,
 * where the host reads results it also reads the counter; a device whose work groups did not all finish counts as
 * lost. */

/* Creates the counter of a new device, if its driver offers one; otherwise nothing is counted. The device must be held
 * for all functions gls_completion_...(). */
void gls_completion_open(gls_device *device);
/* Adds the work groups of a kernel to the expected number. Call it for each kernel, also if the driver refuses it. */
void gls_completion_expect(gls_device *device, const uint32_t groups[3]);
/* Call it if the driver reported an error for the last kernel: subtracts the kernel's work groups from the expected
 * number, unless they ran after all. */
void gls_completion_forgive(gls_device *device, const uint32_t groups[3]);
/* Checks a copied counter. Returns GLS_OK if nothing is counted, if the counter is at least as large as expected, or if
 * a test kernel shows that the driver counts wrongly; in the last case nothing is counted from then on. Otherwise the
 * device is lost: GLS_ERR_LOST. what: start of the message. */
gls_status gls_completion_take(gls_device *device, uint32_t count, uint32_t expected, const char *what);
/* Waits for all kernels and checks the counter, as gls_completion_take() does, but also refuses a larger count. Does
 * nothing if the counter was checked after the last kernel, if nothing is counted, or if never_wait is set.
 * GLS_ERR_DEVICE: the device does not answer. Check first for errors that the driver itself reports. */
gls_status gls_completion_verify(gls_device *device, const char *what);

#endif
