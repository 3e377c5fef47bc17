/* The units of a data set, each in its turn. With several at a time each is tracked by a process of its own, so that a
 * driver that breaks down takes one unit with it and no other. */
#include "cmd/bids_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "util/log.h"
#include "util/output.h"

#define MAX_REASON 1024

/* What became of a unit; as bytes it goes through the pipe of its process. */
typedef struct outcome {
    gls_dataset_state state;
    int code; /* exit code */
    char reason[MAX_REASON];
} outcome;

static const char *const state_names[] = {"tracked", "up to date", "busy", "failed"};

static bool go_on(void)
{
    return !cmd_interrupted();
}

/* A report and a picture of what was tracked; what fails is a warning. */
static void illustrate(const bids_run *run, const gls_dataset_unit *u, const gls_job_options *job)
{
    gls_dataset_files files;
    gls_dataset_name(run->dataset, u, job, &files);
    gls_report_options report = gls_report_options_default();
    report.output = files.report;
    report.mqc = files.logs;
    report.image = u->dwi;
    report.device = job->device;
    report.api = job->api;
    report.go_on = go_on;
    report.force = true;
    gls_render_options picture = gls_render_options_default();
    const char *tractogram = files.tractogram;
    picture.image = u->dwi;
    picture.device = job->device;
    picture.api = job->api;
    picture.tile = "400x420";
    picture.max_streamlines = 5000;
    picture.palette = true;
    picture.go_on = go_on;
    picture.force = true;
    gls_log_mute_info(true);
    cmd_interrupt_catch();
    gls_report_result result;
    if (gls_report_files(files.sidecar, &report, NULL, &result) != GLS_OK && !cmd_interrupted())
        cmd_warn("no report: %s", gls_last_error());
    if (!cmd_interrupted() && gls_render_files(&tractogram, 1, files.picture, &picture, NULL) != GLS_OK &&
        !cmd_interrupted())
        cmd_warn("no picture: %s", gls_last_error());
    cmd_interrupt_release();
    gls_log_mute_info(false);
}

static outcome track_unit(const bids_run *run, const gls_dataset_unit *u, const gls_job_options *job,
                          const gls_monitor *monitor)
{
    outcome out = {.state = GLS_UNIT_FAILED};
    gls_status status = gls_dataset_track(run->dataset, u, job, monitor, &out.state);
    if (status) {
        snprintf(out.reason, sizeof out.reason, "%s", gls_last_error());
        out.code = cmd_error_status(status);
    } else if (out.state == GLS_UNIT_TRACKED && !run->no_report) {
        illustrate(run, u, job);
    }
    return out;
}

/* --- several at a time ------------------------------------------------------ */

typedef struct worker {
    pid_t pid; /* 0: free */
    int pipe;
    size_t unit;
} worker;

static bool child_step(void *user, const gls_progress *p)
{
    (void)user;
    (void)p;
    return !cmd_interrupted();
}

/* The process of a unit. */
static void work(const bids_run *run, const gls_dataset_unit *u, const gls_job_options *job, int out)
{
    const gls_monitor monitor = {.step = child_step};
    cmd_interrupt_catch();
    gls_log_mute_info(true);
    outcome done = track_unit(run, u, job, &monitor);
    const char *bytes = (const char *)&done;
    size_t n = sizeof done;
    while (n > 0) {
        ssize_t written = write(out, bytes, n);
        if (written <= 0) break;
        bytes += written;
        n -= (size_t)written;
    }
    _exit(done.code);
}

/* The device of a worker: of a list of names each has its own. */
static void choose_device(const char *names, size_t place, char *device, size_t size)
{
    size_t n = 1;
    for (const char *c = names; *c; c++) n += *c == ',';
    for (place %= n; place > 0; place--) names = strchr(names, ',') + 1;
    snprintf(device, size, "%.*s", (int)strcspn(names, ","), names);
}

static int start(const bids_run *run, const gls_dataset_unit *u, size_t place, worker *w)
{
    int ends[2];
    char device[256];
    gls_job_options job = *run->job;
    choose_device(job.device ? job.device : "auto", place, device, sizeof device);
    if (run->jobs > 1) job.device = device;
    if (pipe(ends) != 0) return cmd_error(CMD_EXIT_INTERNAL, "no pipe: %s", strerror(errno));
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        work(run, u, &job, ends[1]);
    }
    close(ends[1]);
    w->pipe = ends[0];
    if (w->pid > 0) return CMD_EXIT_OK;
    w->pid = 0;
    close(ends[0]);
    return cmd_error(CMD_EXIT_INTERNAL, "no process: %s", strerror(errno));
}

static outcome collect(worker *w, int status)
{
    outcome out = {.state = GLS_UNIT_FAILED};
    char *bytes = (char *)&out;
    size_t have = 0;
    ssize_t n;
    while (have < sizeof out && (n = read(w->pipe, bytes + have, sizeof out - have)) > 0) have += (size_t)n;
    if (have < sizeof out) {
        out = (outcome){.state = GLS_UNIT_FAILED, .code = CMD_EXIT_INTERNAL};
        if (WIFSIGNALED(status))
            snprintf(out.reason, sizeof out.reason, "its process was ended by signal %d", WTERMSIG(status));
        else
            snprintf(out.reason, sizeof out.reason, "its process ended with code %d", WEXITSTATUS(status));
        if (cmd_interrupted()) out.code = cmd_interrupt_code();
    }
    close(w->pipe);
    w->pid = 0;
    return out;
}

/* --- all of them ------------------------------------------------------------ */

typedef struct tally {
    outcome *of; /* of each unit; state -1: not begun */
    size_t counts[4];
    int code;
    bool ends; /* nothing more is begun */
} tally;

bool bids_run_takes(const bids_run *run, const gls_dataset_unit *unit, size_t place)
{
    return (run->shard.count == 0 || place % run->shard.count + 1 == run->shard.index) &&
           (!run->unit || strcmp(run->unit, unit->name) == 0);
}

static void enter(const bids_run *run, const gls_dataset_unit *u, const outcome *out, outcome *place, tally *t)
{
    *place = *out;
    t->counts[out->state]++;
    if (out->code == CMD_EXIT_OK) {
        cmd_info("%s: %s", u->name, state_names[out->state]);
        return;
    }
    bool grave = out->code >= CMD_EXIT_SIGNAL || out->code == CMD_EXIT_DEVICE;
    if (t->code == CMD_EXIT_OK || grave) t->code = out->code;
    t->ends = t->ends || grave || run->stop_on_error;
}

static void one_by_one(const bids_run *run, const gls_dataset *dataset, tally *t)
{
    for (size_t i = 0; i < dataset->n && !t->ends; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        if (!bids_run_takes(run, u, i)) continue;
        cmd_progress progress = {.begun = false};
        gls_monitor monitor = cmd_progress_monitor(&progress);
        cmd_info("%s", u->name);
        outcome out = track_unit(run, u, run->job, &monitor);
        enter(run, u, &out, &t->of[i], t);
    }
}

static void reap(const bids_run *run, const gls_dataset *dataset, worker *workers, tally *t, bool *stopped)
{
    int status;
    if (cmd_interrupted() && !*stopped) {
        for (int w = 0; w < run->jobs; w++)
            if (workers[w].pid > 0) kill(workers[w].pid, SIGTERM);
        *stopped = t->ends = true;
        t->code = cmd_interrupt_code();
    }
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
        return;
    }
    for (int w = 0; w < run->jobs; w++) {
        if (workers[w].pid != pid) continue;
        size_t unit = workers[w].unit;
        outcome out = collect(&workers[w], status);
        if (WIFSIGNALED(status) && !cmd_interrupted())
            cmd_error(CMD_EXIT_INTERNAL, "%s: %s", dataset->unit[unit].name, out.reason);
        enter(run, &dataset->unit[unit], &out, &t->of[unit], t);
    }
}

static void side_by_side(const bids_run *run, const gls_dataset *dataset, tally *t)
{
    worker *workers = calloc((size_t)run->jobs, sizeof *workers);
    bool stopped = false;
    if (!workers) {
        t->code = cmd_error(CMD_EXIT_INTERNAL, "out of memory");
        return;
    }
    cmd_interrupt_catch();
    for (size_t next = 0;;) {
        int busy = 0, free_one = -1;
        for (int w = 0; w < run->jobs; w++) {
            busy += workers[w].pid > 0;
            if (workers[w].pid == 0 && free_one < 0) free_one = w;
        }
        while (next < dataset->n && !bids_run_takes(run, &dataset->unit[next], next)) next++;
        bool more = next < dataset->n && !t->ends;
        if (!more && busy == 0) break;
        if (more && free_one >= 0) {
            workers[free_one].unit = next;
            int code = start(run, &dataset->unit[next], (size_t)free_one, &workers[free_one]);
            if (code) {
                t->code = code;
                t->ends = true;
            }
            next++;
        } else {
            reap(run, dataset, workers, t, &stopped);
        }
    }
    cmd_interrupt_release();
    free(workers);
}

/* What became of all units, for those who look later. */
static int write_log(const bids_run *run, const gls_dataset *dataset, const tally *t)
{
    char path[4096], *rows = NULL;
    size_t bytes = 0;
    FILE *log = open_memstream(&rows, &bytes);
    if (!log) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    fputs("unit\tstate\treason\n", log);
    for (size_t i = 0; i < dataset->n; i++)
        if ((int)t->of[i].state >= 0)
            fprintf(log, "%s\t%s\t%s\n", dataset->unit[i].name, state_names[t->of[i].state], t->of[i].reason);
    fclose(log);
    snprintf(path, sizeof path, "%s/logs/units.tsv", run->dataset->output);
    int code = gls_file_write(path, true, NULL, rows, bytes) ? cmd_error_status(GLS_ERR_OUTPUT) : CMD_EXIT_OK;
    free(rows);
    return code;
}

int bids_run_units(const bids_run *run, const gls_dataset *dataset)
{
    tally t = {.of = malloc(dataset->n * sizeof *t.of)};
    if (!t.of) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    for (size_t i = 0; i < dataset->n; i++) t.of[i] = (outcome){.state = (gls_dataset_state)-1};
    if (run->jobs > 1)
        side_by_side(run, dataset, &t);
    else
        one_by_one(run, dataset, &t);
    int code = run->shard.count == 0 && !run->unit ? write_log(run, dataset, &t) : CMD_EXIT_OK;
    free(t.of);
    cmd_info("%zu tracked, %zu up to date, %zu busy elsewhere, %zu failed", t.counts[0], t.counts[1], t.counts[2],
             t.counts[3]);
    return t.code ? t.code : code;
}
