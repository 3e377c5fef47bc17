/* Runs the kernels of an engine on nothing, before the first seeds come: drivers make buffers and the memory for
 * transfers at their first use, which would delay the first streamlines. */
#include <stdlib.h>

#include "track/engine/rehearse.h"
#include "gpu/fetch.h"
#include "gpu/open_device.h"
#include "track/engine/gather.h"
#include "track/engine/pass_arguments.h"
#include "util/clock.h"
#include "util/status.h"

/* Largest upload of a rehearsal. Rounds of the default size send less, except with particle filtering. */
#define MAX_BYTES ((size_t)64 << 20)

/* Fills a buffer, or its first MAX_BYTES, with zeros that come from the host, as the uploads of a run do.
 * GLS_ERR_MEMORY. */
static gls_status fill(gls_buffer *buffer)
{
    const size_t size = gls_buffer_size(buffer), bytes = size < MAX_BYTES ? size : MAX_BYTES;
    void *zeros = calloc(1, bytes);
    if (!zeros) return gls_fail(GLS_ERR_MEMORY, "out of memory for a buffer");
    gls_status status = gls_buffer_write(buffer, 0, bytes, zeros);
    free(zeros);
    return status;
}

/* Fetches the first word of a buffer and waits for it. */
static gls_status fetch_word(gls_engine *t, gls_track_fetch fetch, gls_track_buffer buffer)
{
    uint32_t word;
    gls_status status = gls_fetch_begin(t->fetch[fetch], t->buffer[buffer], 0, sizeof word);
    return !status ? gls_fetch_end(t->fetch[fetch], &word) : status;
}

/* Runs pass 1 for no seed. */
static gls_status rehearse_initial(gls_engine *t)
{
    gls_arg args[GLS_PASS_ARGUMENTS];
    gls_status status = gls_pass_uniforms(t, 0, 0, 1, true);
    if (!status) status = fill(t->buffer[GLS_TRACK_SEEDS]);
    if (!status)
        status = gls_engine_run(t, t->kernels.initial, GLS_TIME_INITIAL, 1, args, gls_initial_arguments(t, 0, args));
    return !status ? fetch_word(t, GLS_FETCH_DIRECTIONS, GLS_TRACK_DIRECTIONS) : status;
}

/* With the buffer set in use, runs pass 2 for one streamline, both half-streamlines of which have ended. */
static gls_status rehearse_track(gls_engine *t)
{
    const uint32_t ended = (uint32_t)GLS_END_NOT_TRACKED << HALF_END_SHIFT;
    const struct {
        gls_state_header head;
        uint32_t half[2];
    } state = {.half = {ended, ended}};
    gls_arg args[GLS_PASS_ARGUMENTS];
    gls_status status = gls_pass_uniforms(t, 2, 2, 1, false);
    if (!status) status = fill(t->buffer[GLS_TRACK_LINES]);
    if (!status) status = fill(t->buffer[GLS_TRACK_STATE]);
    if (!status) status = gls_buffer_write(t->buffer[GLS_TRACK_STATE], 0, sizeof state, &state);
    if (!status) status = gls_engine_run(t, t->kernels.track, GLS_TIME_TRACK, 1, args, gls_track_arguments(t, args));
    return !status ? fetch_word(t, GLS_FETCH_STATE, GLS_TRACK_STATE) : status;
}

/* Runs pass 3 for no streamline. */
static gls_status rehearse_gather(gls_engine *t)
{
    gls_status status = fill(t->buffer[GLS_TRACK_PLACED]);
    if (!status) status = gls_gather_dispatch(t, &(gls_gather_uniforms){.n_items = 0});
    return !status ? fetch_word(t, GLS_FETCH_OUTPUT, GLS_TRACK_OUTPUT) : status;
}

void gls_engine_rehearse(gls_engine *t)
{
    if (!t->plan.in_flight || !gls_device_waits(t->device)) return;
    const double start = gls_clock_seconds();
    gls_device_hold(t->device);
    gls_status status = rehearse_initial(t);
    for (unsigned set = 0; set < gls_track_buffer_copies(&t->plan, GLS_TRACK_STATE) && !status; set++) {
        gls_engine_use_buffer_set(t, set);
        status = rehearse_track(t);
    }
    if (!status) status = rehearse_gather(t);
    gls_device_release(t->device);
    (void)gls_trace_phase("rehearse", start, 0);
    if (status)
        gls_log(GLS_LOG_DEBUG, "%s: rehearsal: %s", gls_device_kept_info(t->device)->renderer, gls_last_error());
}
