/* Compiles kernels early, on threads of the driver, while the host does other work. Needs the extension
 * parallel_shader_compile. The caller of the gls_announced_...() functions holds the device. */
#include "gpu/objects.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/device_cache.h"
#include "gpu/internal.h"
#include "gpu/source.h"
#include "util/output_file.h"

/* A program that the driver compiles on a thread of its own until it is asked for. */
typedef struct gls_announced {
    char *source;
    GLuint program; /* the program, linked or still being compiled */
    struct gls_announced *next;
} announced;

/* Path of an empty file in the user's cache folder. If the file exists, the driver has compiled this source before and
 * keeps the result. Returns false if the user has no such folder. */
static bool find_note(const gls_device *device, const char *source, bool make, char *path, size_t size)
{
    uint64_t key =
        gls_cache_hash(source) * 31 + gls_cache_hash(device->info.version) * 17 + gls_cache_hash(device->info.renderer);
    return gls_kept_path("compiled", key, make, path, size);
}

/* Whether the driver has compiler threads that may be used. With a listener kernels are compiled where they are loaded,
 * so that their times and messages are known. */
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

/* Starts compiling without asking for the result: any question would wait for the compiler. */
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

/* Starts compiling one source. Takes over text. */
static void announce_text(gls_device *device, char *text)
{
    char path[4096];
    announced *a = NULL;
    if (has_threads(device) && find_note(device, text, false, path, sizeof path) && access(path, F_OK) != 0 &&
        !gls_cache_has_program(device, text))
        a = malloc(sizeof *a);
    if (!a) {
        free(text);
        return;
    }
    if (!device->announced) start_threads();
    *a = (announced){text, start_compiling(text), device->announced};
    device->announced = a;
}

void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines)
{
    char *text = NULL, *source = NULL;
    const gls_prelude prelude = gls_prelude_of(device);
    /* an error here occurs again, and is reported, when the kernel is loaded */
    if (gls_shader_text(file, &source) == GLS_OK &&
        gls_shader_compose(&prelude, source, defines, n_defines, &text) == GLS_OK &&
        gls_device_enter(device, file) == GLS_OK) {
        announce_text(device, text);
        text = NULL;
        gls_device_release(device);
    }
    free(source);
    free(text);
}

GLuint gls_announced_take(gls_device *device, const char *text)
{
    for (announced **link = &device->announced, *a; (a = *link); link = &a->next) {
        if (strcmp(a->source, text) != 0) continue;
        /* From here on the caller owns the program. Asking for the link status waits for the compiler. */
        GLuint program = a->program;
        GLint ok = GL_FALSE;
        char path[4096];
        *link = a->next;
        free(a->source);
        free(a);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) {
            glDeleteProgram(program);
            return 0;
        }
        /* The program has been compiled: note that the driver now knows this source. */
        int fd = find_note(device, text, true, path, sizeof path)
                     ? open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)
                     : -1;
        if (fd >= 0) close(fd);
        return program;
    }
    return 0;
}

void gls_announced_finish(gls_device *device)
{
    while (device->announced) {
        announced *a = device->announced;
        device->announced = a->next;
        free(a->source);
        free(a);
    }
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
