/* The clock, and the timeline of a run as a list of events that becomes JSON. */
#include "util/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "util/json_text.h"
#include "util/threads.h"

static _Atomic uint64_t skipped;    /* nanoseconds by which tests have moved the clock forward */
static _Atomic uint64_t stopped_at; /* nanoseconds at which tests have stopped the clock; 0: the clock runs */

/* Nanoseconds since an arbitrary moment. */
static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#ifdef GLS_TEST_VARIABLES
void gls_clock_stop(bool stop)
{
    atomic_store(&stopped_at, stop ? now() : 0);
}
#endif

void gls_clock_skip(double seconds)
{
    atomic_fetch_add(&skipped, (uint64_t)(1e9 * seconds));
}

double gls_clock_seconds(void)
{
    uint64_t at = atomic_load_explicit(&stopped_at, memory_order_relaxed);
    if (at == 0) at = now();
    return 1e-9 * (double)(at + atomic_load_explicit(&skipped, memory_order_relaxed));
}

double gls_clock_cpu_seconds(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double seconds = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        if (getrusage(whose[i], &usage) == 0)
            seconds += (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                       1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
    }
    return seconds;
}

/* A phase: a stretch of time on a row of the timeline. from, until: gls_clock_seconds() at its start and end; number:
 * the first seed that the phase works on, valid if has_number. */
typedef struct phase {
    /* name of the phase, at most 47 bytes */
    char name[48];
    /* index of the row of the timeline */
    unsigned lane;
    double from, until;
    uint64_t number;
    bool has_number;
} phase;

/* A row of the timeline: a thread, a device, or anything else that works. */
typedef struct lane {
    char name[112];
} lane;

static atomic_bool is_on;
static struct {
    pthread_mutex_t lock;
    phase *phase;
    size_t n, capacity;
    lane *lane;
    unsigned n_lanes;
    unsigned run; /* how often the timeline was started; a thread whose own_run differs needs a new row */
    bool failed;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};
/* own_lane: index of the row of the calling thread, valid if own_run equals trace.run */
static _Thread_local unsigned own_lane, own_run;

/* Stops recording in a child process and renews the lock, which another thread of the parent may have held. */
static void renew(void)
{
    trace.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&is_on, false);
}
GLS_IN_COPIES(renew)

bool gls_trace_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

/* Forgets all phases and rows. empty(), find_lane(), call_this_thread() and add_phase() need the lock. */
static void empty(void)
{
    free(trace.phase);
    free(trace.lane);
    trace.phase = NULL;
    trace.lane = NULL;
    trace.n = trace.capacity = 0;
    trace.n_lanes = 0;
    trace.failed = false;
}

/* Returns the index of the row of this name in the timeline; a new name gets a new row. */
static unsigned find_lane(const char *name)
{
    unsigned i = 0;
    while (i < trace.n_lanes && strcmp(trace.lane[i].name, name) != 0) i++;
    if (i < trace.n_lanes) return i;
    lane *grown = realloc(trace.lane, (i + 1) * sizeof *grown);
    trace.failed |= !grown;
    if (!grown) return 0;
    trace.lane = grown;
    snprintf(grown[i].name, sizeof grown[i].name, "%s", name);
    trace.n_lanes++;
    return i;
}

/* Gives the calling thread the row of this name. */
static void call_this_thread(const char *name)
{
    own_lane = find_lane(name);
    own_run = trace.run;
}

/* Appends a phase with this name. If memory runs out, sets trace.failed. */
static void add_phase(phase p, const char *name)
{
    if (trace.n == trace.capacity) {
        const size_t capacity = trace.capacity ? 2 * trace.capacity : 1024;
        phase *grown = realloc(trace.phase, capacity * sizeof *grown);
        trace.failed |= !grown;
        if (!grown) return;
        trace.phase = grown;
        trace.capacity = capacity;
    }
    snprintf(p.name, sizeof p.name, "%s", name);
    trace.phase[trace.n++] = p;
}

void gls_trace_start(void)
{
    pthread_mutex_lock(&trace.lock);
    empty();
    trace.run++;
    call_this_thread("run");
    atomic_store(&is_on, true);
    pthread_mutex_unlock(&trace.lock);
}

void gls_trace_call_thread(const char *prefix, const char *name)
{
    char both[sizeof(lane)];
    if (!gls_trace_is_on()) return;
    snprintf(both, sizeof both, "%s%s%s", prefix, *name ? " " : "", name);
    pthread_mutex_lock(&trace.lock);
    call_this_thread(both);
    pthread_mutex_unlock(&trace.lock);
}

double gls_trace_phase(const char *name, double start, uint64_t number)
{
    const double now = gls_clock_seconds();
    if (!gls_trace_is_on()) return now - start;
    pthread_mutex_lock(&trace.lock);
    /* the thread has no row in this timeline yet */
    if (own_run != trace.run) {
        char text[32];
        snprintf(text, sizeof text, "thread %u", trace.n_lanes);
        call_this_thread(text);
    }
    add_phase((phase){.lane = own_lane, .from = start, .until = now, .number = number, .has_number = true}, name);
    pthread_mutex_unlock(&trace.lock);
    return now - start;
}

void gls_trace_add(const char *lane_name, const char *name, double from, double until)
{
    if (!gls_trace_is_on()) return;
    pthread_mutex_lock(&trace.lock);
    add_phase((phase){.lane = find_lane(lane_name), .from = from, .until = until}, name);
    pthread_mutex_unlock(&trace.lock);
}

/* --- as JSON ------------------------------------------------------------------ */

/* Adds an event of the trace format. kind: M for the name of a row, X for a phase. Every event needs pid and tid. */
static cJSON *add_event(cJSON *events, const char *name, const char *kind, unsigned lane_number)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddItemToArray(events, event);
    cJSON_AddStringToObject(event, "name", name);
    cJSON_AddStringToObject(event, "ph", kind);
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", lane_number);
    return event;
}

/* Microseconds with three decimals: phases that touch must not overlap after rounding. */
static double microseconds(double seconds)
{
    return round(1e9 * seconds) / 1e3;
}

/* Makes the timeline in the trace event format of Chromium: times in microseconds from the first event on. */
static cJSON *make_json(void)
{
    cJSON *root = cJSON_CreateObject(), *events = cJSON_AddArrayToObject(root, "traceEvents");
    double zero = trace.n > 0 ? trace.phase[0].from : 0;
    cJSON_AddStringToObject(root, "displayTimeUnit", "ms");
    for (size_t i = 0; i < trace.n; i++) zero = fmin(zero, trace.phase[i].from);
    for (unsigned i = 0; i < trace.n_lanes; i++) {
        cJSON *arguments = cJSON_AddObjectToObject(add_event(events, "thread_name", "M", i), "args");
        cJSON_AddStringToObject(arguments, "name", trace.lane[i].name);
    }
    for (size_t i = 0; i < trace.n; i++) {
        const phase *p = &trace.phase[i];
        const double from = microseconds(p->from - zero);
        cJSON *event = add_event(events, p->name, "X", p->lane);
        cJSON_AddNumberToObject(event, "ts", from);
        cJSON_AddNumberToObject(event, "dur", microseconds(p->until - zero) - from);
        if (p->has_number) cJSON_AddNumberToObject(cJSON_AddObjectToObject(event, "args"), "seed", (double)p->number);
    }
    return root;
}

char *gls_trace_text(void)
{
    pthread_mutex_lock(&trace.lock);
    atomic_store(&is_on, false);
    cJSON *root = trace.failed ? NULL : make_json();
    char *text = root ? gls_json_print_line(root) : NULL;
    cJSON_Delete(root);
    empty();
    pthread_mutex_unlock(&trace.lock);
    return text;
}
