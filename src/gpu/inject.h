/* Places at which tests make the driver fail. Here nothing fails: each function does nothing. At the link of tests
 * those of test/inject.c take their place. A call that fails is not made, and the error is what the driver's would be.
 */
#ifndef GLS_GPU_INJECT_H
#define GLS_GPU_INJECT_H

#include <glslines/common.h>

/* Kinds of calls that tests make fail. */
typedef enum gls_fault {
    GLS_FAULT_OPEN,     /* opening a device, which gets no context */
    GLS_FAULT_ALLOC,    /* creating a buffer or texture, out of memory */
    GLS_FAULT_UPLOAD,   /* writing or clearing a buffer or texture, out of memory */
    GLS_FAULT_COMPILE,  /* a kernel does not compile */
    GLS_FAULT_SILENT,   /* a kernel does not compile, and the driver gives no reason */
    GLS_FAULT_CRASH,    /* the compiler of the driver crashes */
    GLS_FAULT_HANG,     /* the compiler of the driver does not return */
    GLS_FAULT_DISPATCH, /* running a kernel, error of the driver */
    GLS_FAULT_SKIP,     /* a kernel is not run, without an error */
    GLS_FAULT_READBACK, /* reading from a buffer, out of memory */
    GLS_FAULT_RESET,    /* asking the driver for errors: the device is lost and stays lost */
    GLS_FAULT_COUNT
} gls_fault;

/* Called before a device is opened. GLS_ERR_ARGUMENT: the test has invalid rules. */
gls_status gls_inject_begin(void);
/* Whether this call must fail. */
bool gls_inject(gls_fault fault);
/* Whether a device that has allocated this many bytes in all is over the memory that the test gives it. */
bool gls_inject_memory(uint64_t bytes);
/* Called when a kernel runs. */
void gls_inject_work(const char *label, const uint32_t groups[3]);
/* Called after the host has waited for all kernels. Returns whether one took longer than the test allows. */
bool gls_inject_wait(void);

#endif
