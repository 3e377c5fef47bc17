/* Faults on request, for tests of what happens when a driver fails. The calls of each kind are counted over the whole
 * process; a rule names the call that fails, and it fails as the driver's would: nothing was done, and the error is the
 * driver's.
 *
 * A text of rules, "alloc:3,compile:1,reset:40": KIND:N lets the N-th call fail, counted from 1, KIND:N+ the N-th and
 * every later one. The kinds:
 * - open: gls_device_open(), no context
 * - alloc: a buffer or texture, out of memory
 * - upload: data to a buffer or texture, clearing included, out of memory
 * - compile: a kernel does not compile
 * - silent: a kernel does not compile, and the driver does not say why
 * - crash: the driver's compiler crashes
 * - hang: the driver's compiler does not come back
 * - dispatch: a run of a kernel, error of the driver
 * - skip: a run of a kernel does nothing, without an error
 * - readback: data from a buffer, out of memory
 * - reset: any of these but open, or a synchronisation: the device is lost, and stays lost
 * and memory:BYTES, the memory of each device: an allocation beyond it fails;
 * slow:N=NANOSECONDS, a device that is slow, or too hot: from the N-th run of a kernel on each of its work groups takes
 * so long, up to the next such rule; gathering streamlines, which is copying, takes no time. The clock is put forward
 * for that where the host waits for the device, so that nobody waits in earnest; patience:MILLISECONDS, how long the
 * driver waits for a kernel: the device is lost when one takes longer. */
#ifndef GLS_GPU_INJECT_H
#define GLS_GPU_INJECT_H

#include <glslines/common.h>
#include <stdatomic.h>

typedef enum gls_fault {
    GLS_FAULT_OPEN,
    GLS_FAULT_ALLOC,
    GLS_FAULT_UPLOAD,
    GLS_FAULT_COMPILE,
    GLS_FAULT_SILENT,
    GLS_FAULT_CRASH,
    GLS_FAULT_HANG,
    GLS_FAULT_DISPATCH,
    GLS_FAULT_SKIP,
    GLS_FAULT_READBACK,
    GLS_FAULT_RESET,
    GLS_FAULT_COUNT,
    /* rules that are no failing calls */
    GLS_FAULT_MEMORY = GLS_FAULT_COUNT,
    GLS_FAULT_SLOW,
    GLS_FAULT_PATIENCE,
    GLS_FAULT_KINDS
} gls_fault;

/* Replaces all rules and starts to count anew; NULL: no faults. GLS_ERR_ARGUMENT, and no rules, for a text that is
 * none. */
gls_status gls_inject_set(const char *text);
/* The rules of the environment variable GLSLINES_INJECT, if it has changed since the last call. */
gls_status gls_inject_read_environment(void);
/* Calls of a kind since the rules were set; counted only while there are rules. */
uint64_t gls_inject_count(gls_fault fault);

/* Of inject.c: whether there are rules at all. */
extern atomic_bool gls_inject_active;
bool gls_inject_next(gls_fault fault);
bool gls_inject_full(uint64_t bytes);
void gls_inject_run(const char *label, const uint32_t groups[3]);
bool gls_inject_late(void);

/* Counts a call; true if it shall fail. */
static inline bool gls_inject(gls_fault fault)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_next(fault);
}

/* Whether a device whose memory comes to hold this much is past the limit that was set. */
static inline bool gls_inject_memory(uint64_t bytes)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_full(bytes);
}

/* A kernel is run. */
static inline void gls_inject_work(const char *label, const uint32_t groups[3])
{
    if (atomic_load_explicit(&gls_inject_active, memory_order_relaxed)) gls_inject_run(label, groups);
}

/* The host has waited for all kernels; true if the driver has lost its patience with one of them. */
static inline bool gls_inject_wait(void)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_late();
}

#endif
