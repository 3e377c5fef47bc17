/* Memory of a process that opens a display, compiles a compute shader, runs it and closes all, again and again: EGL and
 * OpenGL alone, nothing of this library. For what the driver loses by itself, beside test/tools/soak.c. By hand.
 *
 * With "trim" the heap's free pages are given back after each round (malloc_trim()), so that blocks which the driver
 * lost among them are seen as pages; without, as they are. */
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool ok, const char *what)
{
    if (!ok) fprintf(stderr, "%s failed\n", what), exit(2);
}

/* Other numbers each time, as runs have other constants in their kernels. */
static void compute(unsigned round)
{
    char text[1024], log[1024] = "";
    snprintf(text, sizeof text,
             "#version 430\nlayout(local_size_x = 8) in;\nlayout(std430, binding = 0) buffer data { float x[]; };\n"
             "void main()\n{\n    float y = %u.0;\n"
             "    for (int i = 0; i < %u; i++) y = sin(y) * x[i] + sqrt(abs(y + float(i)));\n"
             "    x[gl_GlobalInvocationID.x] = y;\n}\n",
             round % 7, 50 + round % 11);
    const char *source = text;
    float zeros[64] = {0};
    GLint linked = 0;
    GLuint shader = glCreateShader(GL_COMPUTE_SHADER), program = glCreateProgram(), buffer;
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    need(linked, log);
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof zeros, zeros, GL_STATIC_DRAW);
    glUseProgram(program);
    glDispatchCompute(1, 1, 1);
    glFinish();
    need(glGetError() == GL_NO_ERROR, "glDispatchCompute()");
    glDeleteBuffers(1, &buffer);
    glUseProgram(0);
    glDeleteProgram(program);
    glDeleteShader(shader);
}

static void one_round(unsigned round)
{
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    need(eglInitialize(display, NULL, NULL), "eglInitialize()");
    need(eglBindAPI(EGL_OPENGL_API), "eglBindAPI()");
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    need(context && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context), "eglMakeCurrent()");
    compute(round);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    eglTerminate(display);
    eglReleaseThread();
}

static double anonymous_kb(void)
{
    char line[256];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) abort();
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0) kb = atof(line + 8);
    fclose(file);
    return kb;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    const bool trim = argc > 2 && strcmp(argv[2], "trim") == 0;
    if (rounds < 10 || argc > 3 || (argc > 2 && !trim))
        return fprintf(stderr, "display_memory ROUNDS [trim]      ROUNDS: 10 or more\n"), 2;
    mallopt(M_ARENA_MAX, 1);
    for (unsigned i = 1; i <= rounds; i++) {
        one_round(i);
        if (trim) malloc_trim(0);
        if (i % (rounds / 10)) continue;
        struct mallinfo2 m = mallinfo2();
        printf("%5u displays: heap %zu bytes, of which %zu are given out; anonymous %.0f kB\n", i, m.arena,
               m.uordblks + m.hblkhd, anonymous_kb());
    }
    return 0;
}
