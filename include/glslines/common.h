/* Status codes, error messages and version: shared by every public header. */
#ifndef GLSLINES_COMMON_H
#define GLSLINES_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(GLS_STATIC)
#define GLS_API
#else
#define GLS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Everywhere: structs of options begin with their size, which their default functions set: a caller of another version
 * is refused with GLS_ERR_ARGUMENT. NULL in place of options or parameters means their
 * defaults; NULL in place of anything else that a function does not allow to be missing is GLS_ERR_ARGUMENT. Functions
 * that cannot fail, such as those that only look, need what they are given; functions that end something accept NULL.
 */

/* Every function that can fail returns one of these; gls_last_error() then has one line of text on the reason. A
 * function that fails leaves its output arguments untouched unless its comment says otherwise. */
typedef enum gls_status {
    GLS_OK = 0,
    GLS_ERR_ARGUMENT,    /* an argument or option is out of range or contradicts another */
    GLS_ERR_INPUT,       /* an input file is missing, damaged or does not fit the others */
    GLS_ERR_OUTPUT,      /* an output file cannot be written: permission, full disk, exists already */
    GLS_ERR_MEMORY,      /* the host's memory ran out */
    GLS_ERR_DEVICE,      /* no device, or the device or its driver failed */
    GLS_ERR_UNSUPPORTED, /* valid, but beyond what this build or this device can do */
    GLS_ERR_EMPTY,       /* a valid run had no result, but one was required */
    GLS_ERR_CANCELLED,   /* a callback of the caller asked to stop */
    GLS_ERR_LOST, /* the device was lost: its driver was reset or ended a kernel, or it was unplugged. It can only be
                     closed; a new one may be opened */
    GLS_ERR_DEVICE_MEMORY, /* the device's memory ran out */
    GLS_ERR_CONVERGENCE    /* an iteration did not converge; the results are those of its best step */
} gls_status;

/* Of numbers that are stored. */
typedef enum gls_precision {
    GLS_PRECISION_HALF, /* float16: 11 bits */
    GLS_PRECISION_FLOAT /* float32: 24 bits */
} gls_precision;

/* What becomes of a file that stands where one is to be written. */
typedef enum gls_existing {
    GLS_EXISTING_KEEP,   /* it stays: GLS_ERR_OUTPUT */
    GLS_EXISTING_REPLACE /* it is replaced once the new one is complete */
} gls_existing;

/* Text of the last failure on the calling thread: one line of UTF-8 without a line end, "" if there was none. Valid
 * until the next failure on this thread. It is safe to print: names of files, and texts from files, have control
 * characters and bytes that are no UTF-8 as \x1b, and invisible characters such as those that turn the direction of
 * text as \u202e. Other characters stay as they are; a backslash, too, so that a program cannot take names from it. */
GLS_API const char *gls_last_error(void);

/* Short name of a status, e.g. "input error"; never NULL. */
GLS_API const char *gls_status_name(gls_status status);

/* Frees an array that a function of the library handed out ("to be freed with gls_free()"); accepts NULL. It is free()
 * of the library's own C runtime. */
GLS_API void gls_free(void *array);

/* Threads that the library takes from now on, on every thread that calls it first here or is started by it: OpenMP,
 * OpenBLAS, and the software renderer, where no device of it was opened before. 0: one for each processor that the
 * process may use, or the time that its control group allows (cgroups; containers, Slurm); OMP_NUM_THREADS is then left
 * as it is. Before this is called OpenMP's own rule holds, which does not know control groups. */
GLS_API gls_status gls_set_threads(int n);

/* Whether to go on waiting for input; false ends the wait. It must not call gls_set_wait(). */
typedef bool (*gls_wait_callback)(void *user);
/* Sets what is asked, before each read and every tenth of a second, while the library waits for data that may never
 * come: of a pipe or FIFO without a writer, or with a silent one, of a terminal, a socket. Once it returns false the
 * function that reads fails with GLS_ERR_CANCELLED, and the text names the file. Files on a disk are not waited for.
 * There is one callback for the whole process; it is asked on the thread that waits, which may be one that the library
 * started, but on one at a time. NULL, the default: such waits have no end. Any thread may set it, also while another
 * waits; user belongs to the caller, and neither it nor the former callback is used any more when this returns. */
GLS_API void gls_set_wait(gls_wait_callback go_on, void *user);

/* Version of the library, e.g. "0.1.0". */
GLS_API const char *gls_version(void);

#ifdef __cplusplus
}
#endif
#endif
