/* Injects failures of the driver into tests and into the program of theirs. The linker lets these functions take the
 * place of those of src/gpu/inject.c. Rules and counts hold for the whole process, under `lock`. */
#include "inject.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* The linker gives calls of gls_NAME() to __wrap_gls_NAME(). */
gls_status __wrap_gls_inject_begin(void);
bool __wrap_gls_inject(gls_fault fault);
bool __wrap_gls_inject_memory(uint64_t bytes);
void __wrap_gls_inject_work(const char *label, const uint32_t groups[3]);
bool __wrap_gls_inject_wait(void);

/* Largest number of rules in GLSLINES_INJECT. */
#define MAX_RULES 32

/* A rule of inject.h. */
typedef struct rule {
    int fault;      /* a gls_fault, or one of the kinds behind them */
    uint64_t call;  /* number behind ':': bytes for memory, ms for patience, number of the kernel run for slow, else
                       number of the call */
    bool later;     /* true: the fault happens at the call of this number and at all later calls */
    uint64_t value; /* slow: nanoseconds for each work group, the number behind '='; else 0 */
} rule;

/* Whether there are rules. */
static atomic_bool active;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Gives a copy made by fork() a new lock: a thread that does not exist in the copy may hold the old one. */
static void renew(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
GLS_IN_COPIES(renew)

static rule rules[MAX_RULES];
static size_t n_rules;
/* counts: calls of each kind; memory_limit: bytes, patience: ms, 0: none; n_runs: number of kernel runs, without those
 * of kernels that gather. */
static uint64_t counts[GLS_FAULT_KINDS], memory_limit, patience, n_runs;
static double owed;       /* seconds for which the simulated slow device is still busy */
static bool late;         /* true: a kernel took longer than the rule "patience" allows */
static char *environment; /* value of GLSLINES_INJECT when it was last read; NULL: not set, or invalid */

/* Parses a rule of this length: "KIND:N", "KIND:N+" or "slow:N=VALUE". */
static bool parse_rule(const char *text, size_t length, rule *r)
{
    static const char *const kinds[GLS_FAULT_KINDS] = {
        [GLS_FAULT_OPEN] = "open",         [GLS_FAULT_ALLOC] = "alloc",       [GLS_FAULT_UPLOAD] = "upload",
        [GLS_FAULT_COMPILE] = "compile",   [GLS_FAULT_SILENT] = "silent",     [GLS_FAULT_CRASH] = "crash",
        [GLS_FAULT_HANG] = "hang",         [GLS_FAULT_DISPATCH] = "dispatch", [GLS_FAULT_SKIP] = "skip",
        [GLS_FAULT_READBACK] = "readback", [GLS_FAULT_RESET] = "reset",       [GLS_FAULT_MEMORY] = "memory",
        [GLS_FAULT_SLOW] = "slow",         [GLS_FAULT_PATIENCE] = "patience"};
    const char *colon = memchr(text, ':', length), *end = text + length;
    if (!colon || colon + 1 == end || colon[1] < '0' || colon[1] > '9') return false;
    char *rest;
    unsigned long long value = strtoull(colon + 1, &rest, 10);
    size_t kind = 0, n = (size_t)(colon - text);
    while (kind < GLS_FAULT_KINDS && (strlen(kinds[kind]) != n || strncmp(kinds[kind], text, n) != 0)) kind++;
    *r = (rule){.fault = (int)kind, .call = value, .later = rest < end && *rest == '+'};
    if (kind == GLS_FAULT_SLOW) {
        if (rest == end || *rest != '=' || rest[1] < '0' || rest[1] > '9') return false;
        r->value = strtoull(rest + 1, &rest, 10);
    }
    return kind < GLS_FAULT_KINDS && value > 0 && rest + r->later == end && !(r->later && kind >= GLS_FAULT_COUNT);
}

/* Parses the rules and resets all counts. Call with the lock held. */
static gls_status set_locked(const char *text)
{
    size_t n = 0;
    atomic_store(&active, false);
    memset(counts, 0, sizeof counts);
    n_rules = 0;
    memory_limit = patience = n_runs = 0;
    owed = 0;
    late = false;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        rule r;
        if (n == MAX_RULES || !parse_rule(at, length, &r))
            return gls_fail(
                GLS_ERR_ARGUMENT,
                "faults to inject: '%.*s' is no rule such as alloc:3, or comes after %d rules, the largest number",
                (int)length, at, MAX_RULES);
        rules[n++] = r;
        at += length;
        if (*at) at++;
    }
    for (size_t i = 0; i < n; i++) {
        if (rules[i].fault == GLS_FAULT_MEMORY) memory_limit = rules[i].call;
        if (rules[i].fault == GLS_FAULT_PATIENCE) patience = rules[i].call;
    }
    n_rules = n;
    atomic_store(&active, n > 0);
    return GLS_OK;
}

gls_status gls_inject_set(const char *text)
{
    pthread_mutex_lock(&lock);
    gls_status status = set_locked(text);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Applies the rules in GLSLINES_INJECT if the variable has changed since the last call. */
gls_status __wrap_gls_inject_begin(void)
{
    const char *text = getenv("GLSLINES_INJECT");
    gls_status status = GLS_OK;
    pthread_mutex_lock(&lock);
    if (strcmp(text ? text : "", environment ? environment : "") != 0) {
        status = set_locked(text);
        free(environment);
        environment = !status && text ? strdup(text) : NULL;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

uint64_t gls_inject_count(gls_fault fault)
{
    pthread_mutex_lock(&lock);
    uint64_t count = counts[fault];
    pthread_mutex_unlock(&lock);
    return count;
}

/* Counts a call of this kind. Returns true if a rule makes it fail. */
bool __wrap_gls_inject(gls_fault fault)
{
    if (!atomic_load(&active)) return false;
    bool hit = false;
    pthread_mutex_lock(&lock);
    uint64_t call = ++counts[fault];
    for (size_t i = 0; i < n_rules; i++)
        hit = hit ||
              (rules[i].fault == (int)fault && (call == rules[i].call || (rules[i].later && call > rules[i].call)));
    pthread_mutex_unlock(&lock);
    return hit;
}

/* Whether so many allocated bytes are above the limit of a rule "memory". */
bool __wrap_gls_inject_memory(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    bool full = memory_limit > 0 && bytes > memory_limit;
    pthread_mutex_unlock(&lock);
    return full;
}

/* Adds the time that a run of this kernel takes by the rules "slow", and compares the time with the rule "patience". */
void __wrap_gls_inject_work(const char *label, const uint32_t groups[3])
{
    uint64_t begun = 0, value = 0;
    if (!atomic_load(&active) || strstr(label, "gather")) return; /* kernels that gather only copy, and take no time */
    pthread_mutex_lock(&lock);
    n_runs++;
    for (size_t i = 0; i < n_rules; i++)
        if (rules[i].fault == GLS_FAULT_SLOW && rules[i].call <= n_runs && rules[i].call > begun)
            begun = rules[i].call, value = rules[i].value;
    double seconds = 1e-9 * (double)value * groups[0] * groups[1] * groups[2];
    owed += seconds;
    late = late || (patience > 0 && seconds > 1e-3 * (double)patience);
    pthread_mutex_unlock(&lock);
}

/* Moves the clock forward by the time that the device still needed. Returns whether a kernel was too slow since the
 * last call. */
bool __wrap_gls_inject_wait(void)
{
    pthread_mutex_lock(&lock);
    double seconds = owed;
    bool lost = late;
    owed = 0;
    late = false;
    pthread_mutex_unlock(&lock);
    gls_clock_skip(seconds);
    return lost;
}
