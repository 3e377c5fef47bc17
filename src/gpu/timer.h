/* Waits for the device, and notes in the timeline when each phase of its work begins and ends. */
#ifndef GLS_GPU_TIMER_H
#define GLS_GPU_TIMER_H

#include <epoxy/gl.h>

#include <glslines/device.h>

/* Waits until the device reaches the fence, and deletes the fence. Returns false if the driver fails or does not answer
 * for ten minutes. The device must be held. */
bool gls_wait_for_fence(GLsync sync);
/* Begins a phase of the device in the timeline: the commands until gls_span_end(). Does nothing if phases are not
 * measured (see timer.c). name: a constant. Does not wait. The device must be held. */
void gls_span_begin(gls_device *device, const char *name);
/* Ends the phase that gls_span_begin() began. */
void gls_span_end(gls_device *device);
/* Moves finished phases to the timeline. all: waits for all phases. */
void gls_spans_take(gls_device *device, bool all);
/* Waits for the device and adds its work so far to the timeline, if one is kept. */
void gls_device_trace(gls_device *device);

#endif
