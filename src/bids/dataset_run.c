/* Tracks the units (subjects and sessions) of a data set. When several run at a time, each is a process of its own, so
 * that a driver that crashes stops one unit and no other. */
#include "bids/dataset_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bids/dataset_describe.h"
#include "bids/dataset_select.h"
#include "bids/dataset_track.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Bytes of the message of a failed unit that are kept. */
#define MAX_REASON 1024

/* The outcome of a unit (a session of a subject), as bytes that go through the pipe of its process. */
typedef struct outcome {
    /* how the unit ended; -1: not begun */
    gls_dataset_state state;
    /* status of a failure; GLS_OK: none */
    gls_status status;
    bool broke; /* true: the process of the unit ended without an outcome */
    char reason[MAX_REASON];
} outcome;

/* Words of the log, by gls_dataset_state. */
static const char *const state_names[] = {"tracked", "up to date", "busy", "failed"};

/* Tracks a unit, a session of a subject, and has it documented, also if it was tracked before. device: NULL: that of
 * the options. */
static outcome track_unit(const gls_dataset_task *run, const gls_dataset_unit *u, const char *device,
                          const gls_monitor *monitor)
{
    outcome out = {.state = GLS_UNIT_FAILED};
    gls_job_options job = *run->dataset->job;
    if (device) job.device = device;
    gls_status status = u->problem ? GLS_OK : gls_dataset_job(run->dataset, u, &job);
    if (!status) status = gls_dataset_track(run->dataset, u, &job, monitor, &out.state);
    if (status) {
        snprintf(out.reason, sizeof out.reason, "%s", gls_last_error());
        out.status = status;
        gls_log(GLS_LOG_ERROR, "%s", out.reason);
    } else if (run->document && (out.state == GLS_UNIT_TRACKED || out.state == GLS_UNIT_UP_TO_DATE)) {
        run->document(run, u, &job, out.state == GLS_UNIT_TRACKED);
    }
    return out;
}

/* --- Several units at a time ------------------------------------------------------ */

/* A process that tracks a unit. */
typedef struct worker {
    pid_t pid; /* 0: free */
    int pipe;
    /* index of the unit that the process tracks */
    size_t unit;
} worker;

/* step() of the monitor of a unit in its own process, where no progress is shown. Returns false to end the unit. */
static bool child_step(void *user, const gls_progress *p)
{
    const gls_dataset_task *run = user;
    (void)p;
    return run->go_on();
}

/* Runs in the process of a unit: tracks, writes the outcome into the pipe and ends the process. Does not return. */
static void work(const gls_dataset_task *run, const gls_dataset_unit *u, const char *device, pid_t parent, int out)
{
    const gls_monitor monitor = {.user = (void *)run, .step = child_step};
    /* A terminal or scheduler signals the whole process group. Outside the group the worker gets a signal once, from
     * its parent; a second signal would end the worker in the middle of its work. */
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN); /* a worker may write messages to the terminal */
    /* a worker whose parent has died must not go on; the parent may have died before the call */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) run->end();
    gls_log_mute_info(true);
    outcome done = track_unit(run, u, device, &monitor);
    const char *bytes = (const char *)&done;
    size_t n = sizeof done;
    while (n > 0) {
        ssize_t written = write(out, bytes, n);
        if (written <= 0) break;
        bytes += written;
        n -= (size_t)written;
    }
    run->end();
}

/* Chooses the device of the worker with index `place`: the workers take the names, separated by commas, in turn. */
static void choose_device(const char *names, size_t place, char *device, size_t size)
{
    size_t n = 1;
    for (const char *c = names; *c; c++) n += *c == ',';
    for (place %= n; place > 0; place--) names = strchr(names, ',') + 1;
    snprintf(device, size, "%.*s", (int)strcspn(names, ","), names);
}

/* Starts a process for a unit as the worker with index `place`. The process sends its outcome through a pipe. */
static gls_status start(const gls_dataset_task *run, const gls_dataset_unit *u, size_t place, worker *w)
{
    int ends[2];
    char device[256];
    const char *names = run->dataset->job->device;
    choose_device(names ? names : "auto", place, device, sizeof device);
    if (pipe(ends) != 0) return gls_fail(GLS_ERR_MEMORY, "cannot open a pipe: %s", strerror(errno));
    /* flush, or the child would write the parent's buffers a second time */
    fflush(NULL);
    const pid_t parent = getpid();
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        work(run, u, device, parent, ends[1]);
    }
    close(ends[1]);
    w->pipe = ends[0];
    if (w->pid > 0) return GLS_OK;
    w->pid = 0;
    close(ends[0]);
    return gls_fail(GLS_ERR_MEMORY, "cannot start a process: %s", strerror(errno));
}

/* Reads the outcome that a process has sent. A process that sent none has crashed, and its unit has failed. */
static outcome collect(const gls_dataset_task *run, worker *w, int status)
{
    outcome out = {.state = GLS_UNIT_FAILED};
    char *bytes = (char *)&out;
    size_t have = 0;
    ssize_t n;
    while (have < sizeof out && (n = read(w->pipe, bytes + have, sizeof out - have)) > 0) have += (size_t)n;
    if (have < sizeof out) {
        out = (outcome){.state = GLS_UNIT_FAILED, .status = GLS_ERR_DEVICE, .broke = true};
        if (WIFSIGNALED(status))
            snprintf(out.reason, sizeof out.reason, "its process was ended by signal %d", WTERMSIG(status));
        else
            snprintf(out.reason, sizeof out.reason, "its process ended with code %d", WEXITSTATUS(status));
        if (!run->go_on()) out.status = GLS_ERR_CANCELLED;
    }
    close(w->pipe);
    w->pid = 0;
    return out;
}

/* --- All units ------------------------------------------------------------ */

/* Outcomes of all units so far. */
typedef struct counts {
    outcome *of;      /* one outcome for each unit; state -1: not begun */
    size_t counts[4]; /* number of units of each gls_dataset_state */
    /* status of the first failure, or of the failure that ended the run; GLS_OK: none failed */
    gls_status worst;
    bool ends; /* true: no further unit is started */
} counts;

/* Whether the run must stop, because there is no device or the user asks for it. A crash of the driver, or a series too
 * large for the device, only concerns its own unit. */
static bool is_final(const outcome *out)
{
    return out->status == GLS_ERR_CANCELLED || (out->status == GLS_ERR_DEVICE && !out->broke);
}

/* Stores the outcome of a unit in *place, counts it, logs a success, and decides whether the run goes on. */
static void enter(const gls_dataset_task *run, const gls_dataset_unit *u, const outcome *out, outcome *place, counts *t)
{
    *place = *out;
    t->counts[out->state]++;
    if (!out->status) {
        gls_log(GLS_LOG_INFO, "%s: %s", u->name, state_names[out->state]);
        return;
    }
    /* the status that ends the run wins over the status of a unit */
    if (t->worst == GLS_OK || is_final(out)) t->worst = out->status;
    t->ends = t->ends || is_final(out) || run->choice->stop_on_error;
}

/* Tracks the units one after another in this process, with the caller's progress. */
static void one_by_one(const gls_dataset_task *run, const gls_dataset *dataset, counts *t)
{
    for (size_t i = 0; i < dataset->n && !t->ends; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        if (!gls_dataset_chosen(dataset, run->choice, i) || u->problem) continue;
        gls_log(GLS_LOG_INFO, "%s", u->name);
        outcome out = track_unit(run, u, NULL, run->monitor);
        enter(run, u, &out, &t->of[i], t);
    }
}

/* Whether the process of a unit has ended. Asks for this process alone, because the calling program may have children
 * of its own. */
static bool has_ended(const worker *w, int *status)
{
    *status = 0;
    const pid_t pid = w->pid > 0 ? waitpid(w->pid, status, WNOHANG) : 0;
    /* where the calling program ignores SIGCHLD, the system forgets how a child ended */
    return pid > 0 || (pid < 0 && errno == ECHILD);
}

/* Collects the outcomes of processes that have ended; waits 20 ms if there are none. Passes an interruption on to all
 * processes, once. */
static void reap(const gls_dataset_task *run, const gls_dataset *dataset, worker *workers, counts *t, bool *stopped)
{
    int status;
    bool any = false;
    if (!run->go_on() && !*stopped) {
        for (int w = 0; w < run->jobs; w++)
            if (workers[w].pid > 0) kill(workers[w].pid, SIGTERM);
        *stopped = t->ends = true;
        t->worst = GLS_ERR_CANCELLED;
    }
    for (int w = 0; w < run->jobs; w++) {
        if (!has_ended(&workers[w], &status)) continue;
        any = true;
        size_t unit = workers[w].unit;
        outcome out = collect(run, &workers[w], status);
        if (WIFSIGNALED(status) && run->go_on()) gls_log(GLS_LOG_ERROR, "%s: %s", dataset->unit[unit].name, out.reason);
        enter(run, &dataset->unit[unit], &out, &t->of[unit], t);
    }
    if (!any) nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

/* Keeps run->jobs processes busy until all units are done, or the run is to stop. */
static void side_by_side(const gls_dataset_task *run, const gls_dataset *dataset, counts *t)
{
    worker *workers = calloc((size_t)run->jobs, sizeof *workers);
    bool stopped = false;
    if (!workers) {
        t->worst = gls_fail(GLS_ERR_MEMORY, "out of memory");
        return;
    }
    for (size_t next = 0;;) {
        /* busy: number of running processes; free_one: index of a worker without a process, -1: none */
        int busy = 0, free_one = -1;
        for (int w = 0; w < run->jobs; w++) {
            busy += workers[w].pid > 0;
            if (workers[w].pid == 0 && free_one < 0) free_one = w;
        }
        /* units that the options leave out are skipped */
        while (next < dataset->n && (!gls_dataset_chosen(dataset, run->choice, next) || dataset->unit[next].problem))
            next++;
        bool more = next < dataset->n && !t->ends;
        if (!more && busy == 0) break;
        /* start the next unit if a worker is free, else wait until a process ends */
        if (more && free_one >= 0) {
            workers[free_one].unit = next;
            gls_status status = start(run, &dataset->unit[next], (size_t)free_one, &workers[free_one]);
            if (status) {
                /* if a process cannot be started, start no more, but wait for the processes that run */
                gls_log(GLS_LOG_ERROR, "%s", gls_last_error());
                t->worst = status;
                t->ends = true;
            }
            next++;
        } else {
            reap(run, dataset, workers, t, &stopped);
        }
    }
    free(workers);
}

/* Adds the outcome of each unit that was begun to logs/units.tsv, unless that file is from another program. */
static gls_status write_log(const gls_dataset_task *run, const gls_dataset *dataset, counts *t)
{
    char path[GLS_DATASET_MAX_PATH];
    gls_text rows = {0};
    for (size_t i = 0; i < dataset->n; i++) {
        if ((int)t->of[i].state < 0) continue;
        const bool interrupted = t->of[i].status == GLS_ERR_CANCELLED;
        gls_field_show(&rows, dataset->unit[i].name, '\t');
        gls_text_printf(&rows, "\t%s\t", interrupted ? "interrupted" : state_names[t->of[i].state]);
        gls_field_show(&rows, t->of[i].reason, '\t');
        gls_text_puts(&rows, "\n");
    }
    snprintf(path, sizeof path, "%s/logs/units.tsv", run->dataset->output);
    gls_status status = rows.failed ? gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path)
                        : rows.length > 0 && gls_dataset_may_write(path, GLS_DATASET_LOG_HEADER)
                            ? gls_dataset_log_add(run->dataset, rows.data)
                            : GLS_OK;
    gls_text_finish(&rows);
    return status;
}

/* Warns if the default method is that of one shell for some of the chosen series and another for the rest, because
 * tractograms of two methods cannot be compared. */
static void compare_methods(const gls_dataset_task *run, const gls_dataset *dataset)
{
    size_t n[2] = {0, 0};
    const char *name[2] = {NULL, NULL}, *dg[2] = {NULL, NULL};
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        gls_job_options job = *run->dataset->job;
        if (u->problem || !gls_dataset_chosen(dataset, run->choice, i) || gls_dataset_job(run->dataset, u, &job))
            continue;
        n[job.one_shell]++;
        name[job.one_shell] = u->name;
        dg[job.one_shell] = gls_getter_name(job.track.dg);
    }
    if (n[0] == 0 || n[1] == 0) return;
    gls_log(
        GLS_LOG_WARNING,
        "two methods in one study: --dg %s over csd for %zu series, such as %s, because each has one shell of high b; "
        "--dg %s over the model of their shells for %zu, such as %s; give --model and --dg behind -- to track all "
        "alike",
        dg[1], n[1], name[1], dg[0], n[0], name[0]);
}

gls_status gls_dataset_run(const gls_dataset_task *run, const gls_dataset *dataset, gls_status *worst)
{
    counts t = {.of = malloc(dataset->n * sizeof *t.of)};
    if (!t.of) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < dataset->n; i++) t.of[i] = (outcome){.state = (gls_dataset_state)-1};
    compare_methods(run, dataset);
    /* report units that lack a file before the slow work begins */
    for (size_t i = 0; i < dataset->n && !t.ends; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        if (!gls_dataset_chosen(dataset, run->choice, i) || !u->problem) continue;
        const outcome out = track_unit(run, u, NULL, run->monitor);
        enter(run, u, &out, &t.of[i], &t);
    }
    if (run->jobs > 1)
        side_by_side(run, dataset, &t);
    else
        one_by_one(run, dataset, &t);
    gls_status status = write_log(run, dataset, &t);
    free(t.of);
    *worst = t.worst;
    gls_log(GLS_LOG_INFO, "%zu tracked, %zu up to date, %zu busy elsewhere, %zu failed", t.counts[0], t.counts[1],
            t.counts[2], t.counts[3]);
    return status;
}
