/* Objects that a device keeps for later: compiled programs by their source, and the storage of destroyed buffers (the
 * pool), because drivers are slow to make either again. The caller must hold the device for all functions. */
#ifndef GLS_GPU_DEVICE_CACHE_H
#define GLS_GPU_DEVICE_CACHE_H

#include <epoxy/gl.h>

#include <glslines/device.h>

#include "gpu/internal.h"

/* An argument that a program takes: a number, a block or a texture. */
typedef struct gls_slot {
    gls_arg_kind kind;
    uint32_t slot;  /* location, binding or texture unit of the argument */
    uint64_t bytes; /* for a block: smallest size of the buffer that it accepts; else 0 */
    char name[32];
} gls_slot;

/* A linked program. All kernels with the same source share it. */
typedef struct gls_shared_program {
    char *source;    /* complete source text of the program */
    uint64_t hash;   /* hash of `source` */
    GLuint name;     /* GL name of the linked program */
    gls_slot *slots; /* arguments that the program takes */
    size_t n_slots;
    size_t references; /* number of kernels that use the program; 0: the program is kept for later kernels */
    struct gls_shared_program *next; /* next program of the list; the program that was found or added last is first */
} gls_shared_program;

/* Finds the program of a source and adds a reference; NULL: not compiled yet. */
gls_shared_program *gls_cache_find_program(gls_device *device, const char *source);
/* Stores a linked program with one reference. Takes ownership of source and of the GL program `name`, also if it fails
 * with GLS_ERR_MEMORY. */
gls_status gls_cache_add_program(gls_device *device, char *source, GLuint name, gls_shared_program **program);
/* Drops one reference. An unused program stays in the cache for later kernels; if too many are unused, the one
 * among them that was found or added longest ago is deleted. */
void gls_cache_release_program(gls_device *device, gls_shared_program *program);
/* Takes the storage of a destroyed buffer of exactly this kind and size out of the pool and returns its GL name, which
 * the caller then owns; 0: the pool has none. */
GLuint gls_cache_take_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes);
/* Adds the storage of a destroyed buffer to the pool. Returns false if the pool does not take it; the caller then
 * deletes it. */
bool gls_cache_keep_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes, GLuint name);
/* Deletes all pooled storage. Returns whether there was any. */
bool gls_cache_drop_buffers(gls_device *device);
/* Deletes pooled storage and unused programs. Returns whether there was any storage. */
bool gls_cache_clear(gls_device *device);
/* Frees the host memory of the caches, and of the list of programs that gls_kernel_announce() had the driver compile,
 * when the device is closed. */
void gls_cache_finish(gls_device *device);
/* Compiles and links a program, which the caller deletes, also if it did not link. *ok: whether it linked; if not,
 * message gets the reason in one line. The device must be held. */
GLuint gls_program_link(const char *text, GLint *ok, char *message, GLsizei size);
/* Waits until the program of this source is linked, which gls_kernel_announce() had the driver compile early. Returns
 * the program, which the caller then owns; 0: the source was not announced, or does not compile. The device must be
 * held. */
GLuint gls_announced_take(gls_device *device, const char *text);
/* Announces that gls_kernel_load() will ask for this kernel. Does nothing unless the driver has compiler threads and
 * has not compiled the kernel before, because the threads cost a fifth of a second at the end of the process. */
void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);
/* Whether no run on this machine has asked for this kernel before, neither here nor by gls_kernel_announce(), so that
 * the driver has to compile it. Leaves a note that it was asked for. True where notes cannot be kept. */
bool gls_kernel_is_new(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);

#endif
