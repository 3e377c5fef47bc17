/* Programs and buffers that a device keeps: compiled programs for later kernels, programs that the driver compiles
 * early on threads of its own, and the storage of destroyed buffers for new ones (the pool). Each list begins with its
 * newest entry; finding a program again also makes it the newest. If a list of programs or buffers is full, the oldest
 * entry without a user is deleted. */
#include "gpu/device_cache.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/source.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Limits of the pool: size of one buffer, size of all buffers, number of buffers. Larger buffers are few and live long,
 * so their memory is returned to the driver. */
#define MAX_POOLED_BUFFER ((size_t)16 << 20)
#define MAX_POOLED_BYTES ((uint64_t)64 << 20)
#define MAX_POOLED_BUFFERS 64
#define MAX_IDLE_PROGRAMS 64

/* Storage of a destroyed buffer, for the next one of the same kind and size. */
typedef struct gls_pooled_buffer {
    gls_buffer_kind kind;
    size_t bytes;
    GLuint name;
    struct gls_pooled_buffer *next; /* next of the list, in which the most recently destroyed buffer is first */
} pooled_buffer;

/* --- programs ------------------------------------------------------------- */

/* Computes the hash FNV-1a of 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Deletes a program, unless its context is gone, and frees its memory. */
static void free_program(gls_device *device, gls_shared_program *program)
{
    if (!device->lost && device->context != EGL_NO_CONTEXT) glDeleteProgram(program->name);
    free(program->source);
    free(program->slots);
    free(program);
}

/* Finds the pointer, in the list of programs, that points to this program, which must be in the list. */
static gls_shared_program **find_link(gls_device *device, const gls_shared_program *program)
{
    gls_shared_program **link = &device->programs;
    while (*link != program) link = &(*link)->next;
    return link;
}

gls_shared_program *gls_cache_find_program(gls_device *device, const char *source)
{
    uint64_t hash = hash_of(source);
    for (gls_shared_program **link = &device->programs, *p; (p = *link); link = &p->next) {
        /* move the program of this source to the front of the list, and count the new kernel as its user */
        if (p->hash != hash || strcmp(p->source, source) != 0) continue;
        *link = p->next;
        p->next = device->programs;
        device->programs = p;
        if (p->references++ == 0) device->memory.n_cached_programs--;
        return p;
    }
    return NULL;
}

static bool has_program(const gls_device *device, const char *source)
{
    const gls_shared_program *p = device->programs;
    while (p && strcmp(p->source, source) != 0) p = p->next;
    return p != NULL;
}

/* Appends an argument to program->slots, with the name that it has in the source. */
static void add_slot(gls_shared_program *program, gls_slot slot, GLenum interface, GLuint index)
{
    glGetProgramResourceName(program->name, interface, index, sizeof slot.name, NULL, slot.name);
    program->slots[program->n_slots++] = slot;
}

/* Lists the uniforms and blocks of a linked program as its slots. Returns false if memory ran out. */
static bool reflect(gls_shared_program *program)
{
    static const GLenum interfaces[] = {GL_UNIFORM, GL_SHADER_STORAGE_BLOCK, GL_UNIFORM_BLOCK};
    GLint counts[3] = {0};
    for (int k = 0; k < 3; k++) glGetProgramInterfaceiv(program->name, interfaces[k], GL_ACTIVE_RESOURCES, &counts[k]);
    program->slots = calloc((size_t)counts[0] + (size_t)counts[1] + (size_t)counts[2] + 1, sizeof *program->slots);
    if (!program->slots) return false;
    /* Uniforms outside blocks: numbers by location, textures by unit. */
    for (GLint i = 0; i < counts[0]; i++) {
        static const GLenum wanted[] = {GL_BLOCK_INDEX, GL_LOCATION, GL_TYPE};
        GLint found[3] = {0};
        glGetProgramResourceiv(program->name, GL_UNIFORM, (GLuint)i, 3, wanted, 3, NULL, found);
        if (found[0] >= 0 || found[1] < 0) continue; /* the uniform is part of a block, or an atomic counter */
        gls_slot slot = {.slot = (uint32_t)found[1]};
        GLint unit = 0;
        switch (found[2]) {
        case GL_INT: slot.kind = GLS_ARG_INT; break;
        case GL_UNSIGNED_INT: slot.kind = GLS_ARG_UINT; break;
        case GL_FLOAT: slot.kind = GLS_ARG_FLOAT; break;
        case GL_SAMPLER_3D:
            glGetUniformiv(program->name, found[1], &unit);
            slot.kind = GLS_ARG_TEXTURE;
            slot.slot = (uint32_t)unit;
            break;
        default: continue; /* no argument can have this type */
        }
        add_slot(program, slot, GL_UNIFORM, (GLuint)i);
    }
    /* Storage blocks, then uniform blocks, by binding. */
    for (int k = 1; k < 3; k++)
        for (GLint i = 0; i < counts[k]; i++) {
            static const GLenum wanted[] = {GL_BUFFER_BINDING, GL_BUFFER_DATA_SIZE};
            GLint found[2] = {0};
            glGetProgramResourceiv(program->name, interfaces[k], (GLuint)i, 2, wanted, 2, NULL, found);
            gls_slot slot = {.kind = k == 1 ? GLS_ARG_BUFFER : GLS_ARG_UNIFORMS,
                             .slot = (uint32_t)found[0],
                             .bytes = (uint64_t)found[1]};
            add_slot(program, slot, interfaces[k], (GLuint)i);
        }
    return true;
}

gls_status gls_cache_add_program(gls_device *device, char *source, GLuint name, gls_shared_program **out)
{
    gls_shared_program *program = calloc(1, sizeof *program);
    if (!program) {
        glDeleteProgram(name);
        free(source);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a program");
    }
    *program = (gls_shared_program){
        .source = source, .hash = hash_of(source), .name = name, .references = 1, .next = device->programs};
    if (!reflect(program)) {
        free_program(device, program);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a program");
    }
    device->programs = program;
    *out = program;
    return GLS_OK;
}

void gls_cache_release_program(gls_device *device, gls_shared_program *program)
{
    if (--program->references > 0) return;
    if (device->memory.n_cached_programs++ < MAX_IDLE_PROGRAMS) return;
    /* too many programs have no kernel: delete the one that was found or added longest ago */
    gls_shared_program *oldest = NULL;
    for (gls_shared_program *p = device->programs; p; p = p->next)
        if (p->references == 0) oldest = p;
    assert(oldest);
    *find_link(device, oldest) = oldest->next;
    free_program(device, oldest);
    device->memory.n_cached_programs--;
}

GLuint gls_program_link(const char *text, GLint *ok, char *message, GLsizei size)
{
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
    *message = '\0';
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, ok);
    GLuint linked = glCreateProgram();
    if (*ok) {
        glAttachShader(linked, shader);
        glLinkProgram(linked);
        glGetProgramiv(linked, GL_LINK_STATUS, ok);
        if (!*ok) glGetProgramInfoLog(linked, size, NULL, message);
    } else {
        glGetShaderInfoLog(shader, size, NULL, message);
    }
    /* Messages become one line. */
    for (char *c = message; !*ok && *c; c++)
        if (gls_is_space((unsigned char)*c)) *c = ' ';
    glDeleteShader(shader);
    return linked;
}

/* --- programs compiled early, which needs the extension parallel_shader_compile. The caller of the gls_announced_...()
 * functions holds the device. */

/* A program that the driver compiles on a thread of its own. The list keeps it until a kernel takes it. */
typedef struct gls_announced {
    char *source;
    GLuint program; /* the program, linked or still being compiled */
    struct gls_announced *next;
} announced;

/* Stores in path[size] the path of an empty file in the user's cache folder. If the file exists, the driver has
 * compiled this source before and keeps the result. make: creates the folder. Returns false as gls_kept_path() does. */
static bool find_note(const gls_device *device, const char *source, bool make, char *path, size_t size)
{
    uint64_t key = hash_of(source) * 31 + hash_of(device->info.version) * 17 + hash_of(device->info.renderer);
    return gls_kept_path("compiled", key, make, path, size);
}

/* Makes the file that find_note() finds, where that is possible. */
static void make_note(const gls_device *device, const char *source)
{
    char path[4096];
    int fd = find_note(device, source, true, path, sizeof path)
                 ? open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)
                 : -1;
    if (fd >= 0) close(fd);
}

/* Whether the driver has compiler threads that may be used. They are not used for a device with a listener (see
 * gls_device_listen()), which needs the time and the messages of each compilation. */
static bool has_threads(const gls_device *device)
{
    return !device->info.software && !device->listener &&
           (epoxy_has_gl_extension("GL_KHR_parallel_shader_compile") ||
            epoxy_has_gl_extension("GL_ARB_parallel_shader_compile"));
}

/* Lets the driver use as many compiler threads as it likes. */
static void start_threads(void)
{
    if (epoxy_has_gl_extension("GL_KHR_parallel_shader_compile"))
        glMaxShaderCompilerThreadsKHR(0xffffffffu);
    else
        glMaxShaderCompilerThreadsARB(0xffffffffu);
}

/* Starts compiling. Does not ask the driver for the result, because the answer would wait for the compiler. */
static GLuint start_compiling(const char *text)
{
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER), program = glCreateProgram();
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glDeleteShader(shader);
    return program;
}

/* Starts compiling one source, unless the driver has no compiler threads or has compiled this source before. Takes over
 * text. */
static void announce_text(gls_device *device, char *text)
{
    char path[4096];
    announced *a = NULL;
    if (has_threads(device) && find_note(device, text, false, path, sizeof path) && access(path, F_OK) != 0 &&
        !has_program(device, text))
        a = malloc(sizeof *a);
    if (!a) {
        free(text);
        return;
    }
    if (!device->announced) start_threads();
    *a = (announced){text, start_compiling(text), device->announced};
    device->announced = a;
}

/* Composes the whole source of a kernel. An error here occurs again, and is reported, when the kernel is loaded. */
static char *compose(const gls_device *device, const char *file, const gls_define *defines, size_t n_defines)
{
    char *text = NULL, *source = NULL;
    const gls_prelude prelude = gls_prelude_of(device);
    if (gls_shader_text(file, &source) || gls_shader_compose(&prelude, source, defines, n_defines, &text)) text = NULL;
    free(source);
    return text;
}

void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines)
{
    char *text = compose(device, file, defines, n_defines);
    if (text && gls_device_enter(device, file) == GLS_OK) {
        announce_text(device, text);
        text = NULL;
        gls_device_release(device);
    }
    free(text);
}

bool gls_kernel_is_new(gls_device *device, const char *file, const gls_define *defines, size_t n_defines)
{
    char path[4096], *text = compose(device, file, defines, n_defines);
    bool is_new = text != NULL;
    if (text && gls_device_enter(device, file) == GLS_OK) {
        is_new = !has_program(device, text) &&
                 !(find_note(device, text, false, path, sizeof path) && access(path, F_OK) == 0);
        gls_device_release(device);
    }
    if (is_new) make_note(device, text);
    free(text);
    return is_new;
}

GLuint gls_announced_take(gls_device *device, const char *text)
{
    for (announced **link = &device->announced, *a; (a = *link); link = &a->next) {
        if (strcmp(a->source, text) != 0) continue;
        /* the caller owns the program from here on; asking for the link status waits for the compiler */
        GLuint program = a->program;
        GLint ok = GL_FALSE;
        *link = a->next;
        free(a->source);
        free(a);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) {
            glDeleteProgram(program);
            return 0;
        }
        make_note(device, text); /* the driver has compiled this source and keeps the result */
        return program;
    }
    return 0;
}

/* --- buffers -------------------------------------------------------------- */

/* Takes an entry out of the pool and returns the GL name of its storage, which the caller then owns. */
static GLuint unlink_buffer(gls_device *device, pooled_buffer **link)
{
    pooled_buffer *taken = *link;
    GLuint name = taken->name;
    *link = taken->next;
    device->memory.n_cached_buffers--;
    device->memory.cached_bytes -= taken->bytes;
    free(taken);
    return name;
}

GLuint gls_cache_take_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes)
{
    for (pooled_buffer **link = &device->pool; *link; link = &(*link)->next)
        if ((*link)->kind == kind && (*link)->bytes == bytes) return unlink_buffer(device, link);
    return 0;
}

/* Deletes the storage at the end of the pool, which must not be empty. */
static void drop_oldest(gls_device *device)
{
    pooled_buffer **link = &device->pool;
    while ((*link)->next) link = &(*link)->next;
    GLuint name = unlink_buffer(device, link);
    glDeleteBuffers(1, &name);
}

bool gls_cache_keep_buffer(gls_device *device, gls_buffer_kind kind, size_t bytes, GLuint name)
{
    pooled_buffer *kept = bytes <= MAX_POOLED_BUFFER && !device->lost ? malloc(sizeof *kept) : NULL;
    if (!kept) return false;
    const gls_device_memory *memory = &device->memory;
    while (device->pool &&
           (memory->cached_bytes + bytes > MAX_POOLED_BYTES || memory->n_cached_buffers >= MAX_POOLED_BUFFERS))
        drop_oldest(device);
    *kept = (pooled_buffer){kind, bytes, name, device->pool};
    device->pool = kept;
    device->memory.n_cached_buffers++;
    device->memory.cached_bytes += bytes;
    return true;
}

/* --- programs and buffers ----------------------------------------------------------------- */

bool gls_cache_drop_buffers(gls_device *device)
{
    bool any = device->pool != NULL;
    while (device->pool) {
        GLuint name = unlink_buffer(device, &device->pool);
        if (!device->lost) glDeleteBuffers(1, &name);
    }
    return any;
}

bool gls_cache_clear(gls_device *device)
{
    bool any = gls_cache_drop_buffers(device);
    for (gls_shared_program **link = &device->programs; *link;) {
        gls_shared_program *program = *link;
        if (program->references > 0) {
            link = &program->next;
            continue;
        }
        *link = program->next;
        free_program(device, program);
        device->memory.n_cached_programs--;
    }
    return any;
}

gls_status gls_device_clear_cache(gls_device *device)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    gls_status status = gls_device_enter(device, "clearing the cache");
    if (status) return status;
    gls_cache_clear(device);
    status = gls_device_check(device, "clearing the cache");
    gls_device_release(device);
    return status;
}

void gls_cache_finish(gls_device *device)
{
    while (device->announced) {
        announced *a = device->announced;
        device->announced = a->next;
        free(a->source);
        free(a);
    }
    while (device->pool) unlink_buffer(device, &device->pool);
    while (device->programs) {
        gls_shared_program *program = device->programs;
        device->programs = program->next;
        free_program(device, program);
    }
}
