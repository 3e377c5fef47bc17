/* What a device keeps for later: compiled programs by their source, and the storage of destroyed buffers. */
#ifndef GLS_GPU_CACHE_H
#define GLS_GPU_CACHE_H

#include "gpu/internal.h"

/* A uniform outside of blocks, or a block, that a program uses. */
typedef struct gls_slot {
    gls_arg_kind kind;
    uint32_t slot;  /* location, binding or texture unit */
    uint64_t bytes; /* of a block: the least that its buffer has to have */
    char name[32];
} gls_slot;

/* Kernels with the same source share one. */
typedef struct gls_shared_program {
    char *source; /* the whole of it */
    uint64_t hash;
    GLuint name;
    gls_slot *slots;
    size_t n_slots;
    size_t references;
    struct gls_shared_program *next; /* most recently used first */
} gls_shared_program;

/* All of these want the device held. */

/* The program of a source, with one more reference; NULL if there is none yet. */
gls_shared_program *gls_cache_find_program(gls_device *device, const char *source);
bool gls_cache_has_program(const gls_device *device, const char *source);
uint64_t gls_cache_hash(const char *text);
/* Enters a linked program with one reference. source and name belong to the cache afterwards, also if GLS_ERR_MEMORY is
 * returned. */
gls_status gls_cache_add_program(gls_device *device, char *source, GLuint name, gls_shared_program **program);
void gls_cache_release_program(gls_device *device, gls_shared_program *program);

/* Storage of exactly this kind and size, 0 if there is none. */
GLuint gls_cache_take_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes);
/* False: the cache does not want it. */
bool gls_cache_keep_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes, GLuint name);

/* Frees the storage of buffers; true if there was any. */
bool gls_cache_drop_buffers(gls_device *device);
/* Frees what nobody uses; true if buffers were among it. */
bool gls_cache_clear(gls_device *device);
/* Frees the host's part of everything, when the device is closed. */
void gls_cache_finish(gls_device *device);

#endif
