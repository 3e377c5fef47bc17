/* Declares status codes, error messages, the version, the number of threads, and the callback that ends waits for
 * input: the base of the other public headers. */
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

/* Conventions of all headers. Structs of options that functions take begin with their size, which their default
 * function sets; a caller of another version gets GLS_ERR_ARGUMENT. NULL in place of options or parameters means the
 * defaults. NULL in place of any other argument is GLS_ERR_ARGUMENT, unless the function allows it. Functions that
 * cannot fail, such as functions that only read, need valid arguments. Destructors accept NULL. */

/* Result of every function that can fail; gls_last_error() then returns the reason in one line. A function that fails
 * leaves its output arguments unchanged, unless its comment says otherwise. */
typedef enum gls_status {
    GLS_OK = 0,
    GLS_ERR_ARGUMENT,    /* an argument or option is out of range or contradicts another */
    GLS_ERR_INPUT,       /* an input file is missing, damaged or does not fit the other files */
    GLS_ERR_OUTPUT,      /* an output file cannot be written: permission, full disk, exists already */
    GLS_ERR_MEMORY,      /* the host's memory ran out */
    GLS_ERR_DEVICE,      /* no device, or the device or its driver failed */
    GLS_ERR_UNSUPPORTED, /* valid, but beyond what this build or this device can do */
    GLS_ERR_EMPTY,       /* a valid run had no result, but one was required */
    GLS_ERR_CANCELLED,   /* a callback of the caller asked to stop */
    GLS_ERR_LOST, /* the device was lost: its driver was reset or ended a kernel, or it was unplugged. It can only be
                     closed; a new one may be opened */
    GLS_ERR_DEVICE_MEMORY, /* the device's memory ran out */
    GLS_ERR_CONVERGENCE    /* an iteration did not converge; the results come from its best step */
} gls_status;

/* Precision of stored numbers. */
typedef enum gls_precision {
    GLS_PRECISION_HALF, /* float16: 11 significant bits */
    GLS_PRECISION_FLOAT /* float32: 24 significant bits */
} gls_precision;

/* Whether an output file that exists is an error or is replaced. */
typedef enum gls_existing {
    GLS_EXISTING_KEEP,   /* keep it: GLS_ERR_OUTPUT */
    GLS_EXISTING_REPLACE /* replace it once the new file is complete */
} gls_existing;

/* Text of the last failure on the calling thread: one line of UTF-8 without a line end, "" if there was none. Valid
 * until the next failure on this thread. Safe to print: names of files and texts from files show control characters and
 * bytes that are not UTF-8 in hexadecimal, such as \x1b, and invisible characters, such as those that change the
 * direction of text, as \u202e. Other characters stay, also backslashes, so do not parse names out of the text. */
GLS_API const char *gls_last_error(void);

/* Short name of a status, e.g. "input error"; never NULL. */
GLS_API const char *gls_status_name(gls_status status);

/* Frees an array that a function of the library handed out ("to be freed with gls_free()"); accepts NULL. It is free()
 * of the library's own C runtime. */
GLS_API void gls_free(void *array);

/* Sets the number of threads, 1 to 4096, that the library uses, on the calling thread and on threads that the library
 * starts: OpenMP, OpenBLAS, and the software renderer if none of its devices was opened before. 0: one thread for each
 * processor that the process may use, limited by its control group (cgroups; containers, Slurm); OMP_NUM_THREADS is
 * then respected. Without a call the rule of OpenMP holds, which ignores control groups. GLS_ERR_ARGUMENT: n or
 * OMP_NUM_THREADS is out of this range, or OMP_STACKSIZE is below 1 MB. */
GLS_API gls_status gls_set_threads(int n);

/* Returns whether to go on waiting for input. Must not call gls_set_wait(). */
typedef bool (*gls_wait_callback)(void *user);
/* Sets a callback that is asked, before each read and every tenth of a second, while the library waits for data that
 * may never come: from a pipe or FIFO whose writer is missing or silent, a terminal, or a socket. If it returns false,
 * the reading function fails with GLS_ERR_CANCELLED and names the file. Files on a disk are not waited for. There is
 * one callback for the process; it is called on the thread that waits, which may be one of the library's, but never on
 * two threads at once. NULL, the default: waits have no end. Any thread may set it, even while another one waits. user
 * belongs to the caller. After the return, neither user nor the former callback is used any more. Since 0.2.0. */
GLS_API void gls_set_wait(gls_wait_callback go_on, void *user);

/* Version of the library, e.g. "0.2.0". */
GLS_API const char *gls_version(void);

#ifdef __cplusplus
}
#endif
#endif
