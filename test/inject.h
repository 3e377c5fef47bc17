/* Rules for the failures of the driver that inject.c injects. Calls of each kind are counted over the whole process. A
 * rule names the call that fails. Such a call fails as the driver's own call would: nothing is done, and the error is
 * the driver's.
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
#ifndef GLS_TEST_INJECT_H
#define GLS_TEST_INJECT_H

#include "gpu/inject.h"

/* Kinds of rules that are not about calls, behind those of gls_fault. */
enum { GLS_FAULT_MEMORY = GLS_FAULT_COUNT, GLS_FAULT_SLOW, GLS_FAULT_PATIENCE, GLS_FAULT_KINDS };

/* Replaces all rules and restarts counting. NULL: no rules. GLS_ERR_ARGUMENT for an invalid text; there are no rules
 * then. */
gls_status gls_inject_set(const char *text);
/* Number of calls of a kind since the rules were set. Counted only while there are rules. */
uint64_t gls_inject_count(gls_fault fault);

#endif
