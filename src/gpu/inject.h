/* Injects failures of the driver, for tests. Calls of each kind are counted over the whole process. A rule names the
 * call that fails. Such a call fails as the driver's own call would: nothing is done, and the error is the driver's.
 *
 * Rules are a text such as "alloc:3,compile:1,reset:40". KIND:N fails the N-th call, counted from 1; KIND:N+ fails the
 * N-th call and all later ones. Kinds:
 * - open: opening a device, which gets no context
 * - alloc: creating a buffer or texture, out of memory
 * - upload: writing or clearing a buffer or texture, out of memory
 * - compile: a kernel does not compile
 * - silent: a kernel does not compile, and the driver gives no reason
 * - crash: the compiler of the driver crashes
 * - hang: the compiler of the driver does not return
 * - dispatch: running a kernel, error of the driver
 * - skip: a kernel is not run, without an error
 * - readback: reading from a buffer, out of memory
 * - reset: asking the driver for errors (gls_device_check()): the device is lost and stays lost
 *
 * Three rules are not about calls:
 * - memory:BYTES: memory of each device; an allocation beyond it fails
 * - slow:N=NANOSECONDS: from the N-th kernel run on, each work group takes this long, until the next such rule. Kernels
 * that gather are not counted and take no time. Where the host waits for the device, the clock is moved forward
 * instead of waiting
 * - patience:MILLISECONDS: the device is lost when a kernel takes longer than this */
#ifndef GLS_GPU_INJECT_H
#define GLS_GPU_INJECT_H

#include <glslines/common.h>
#include <stdatomic.h>

/* Kinds of failures, in the order of the list above. */
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
    /* kinds of rules that are not about calls */
    GLS_FAULT_MEMORY = GLS_FAULT_COUNT,
    GLS_FAULT_SLOW,
    GLS_FAULT_PATIENCE,
    GLS_FAULT_KINDS
} gls_fault;

/* Replaces all rules and restarts counting. NULL: no rules. GLS_ERR_ARGUMENT for an invalid text; there are no rules
 * then. */
gls_status gls_inject_set(const char *text);
/* Applies the rules in GLSLINES_INJECT if the variable has changed since the last call. */
gls_status gls_inject_read_environment(void);
/* Number of calls of a kind since the rules were set. Counted only while there are rules. */
uint64_t gls_inject_count(gls_fault fault);

/* Whether there are rules; read by the inline functions below. */
extern atomic_bool gls_inject_active;
/* Do not call these four functions directly: call the inline functions below, which call them. */
bool gls_inject_next(gls_fault fault);
bool gls_inject_full(uint64_t bytes);
void gls_inject_run(const char *label, const uint32_t groups[3]);
bool gls_inject_late(void);

/* Counts a call of this kind. Returns true if it must fail. */
static inline bool gls_inject(gls_fault fault)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_next(fault);
}

/* Whether a device that has allocated this many bytes in all is over the injected memory limit. */
static inline bool gls_inject_memory(uint64_t bytes)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_full(bytes);
}

/* Counts the run of a kernel, for rules "slow" and "patience". */
static inline void gls_inject_work(const char *label, const uint32_t groups[3])
{
    if (atomic_load_explicit(&gls_inject_active, memory_order_relaxed)) gls_inject_run(label, groups);
}

/* Moves the clock forward by the time that slow kernels still need. Returns true if one took longer than the rule
 * "patience" allows. Call this after the host has waited for all kernels. */
static inline bool gls_inject_wait(void)
{
    return atomic_load_explicit(&gls_inject_active, memory_order_relaxed) && gls_inject_late();
}

#endif
