/* Progress for other programs: JSON events, one a line (--progress json, --progress-file). */
#include "cmd/message.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"

#define FORMAT 1 /* version of the format */

/* State of the stream of events. Events may come from several threads; `lock` guards a line as it is written, so that
 * lines do not mix. */
static struct {
    pthread_mutex_t lock;
    cmd_progress_mode mode;
    volatile sig_atomic_t fd; /* -1: no events */
    /* array of the output paths for the event end; NULL without a stream */
    cJSON *outputs;
    /* see cmd_events_begin() */
    bool (*go_on)(void);
    bool broken; /* a line was cut off; a reader could not separate the next line from it */
} events = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* names in events, by gls_phase */
static const char *const phases[] = {"fit", "track", "merge", "write"};

/* Takes ownership of the object. Writes a line at once, or in pieces to a pipe. */
static void send(cJSON *object)
{
    char *text = gls_json_print_line(object);
    cJSON_Delete(object);
    size_t n = text ? strlen(text) : 0;
    char *line = text ? realloc(text, n + 2) : NULL;
    if (line) {
        line[n] = '\n';
        pthread_mutex_lock(&events.lock);
        const bool writes = events.fd >= 0 && !events.broken;
        const size_t written = writes ? gls_fd_write_while(events.fd, line, n + 1, events.go_on) : 0;
        events.broken |= written > 0 && written <= n;
        pthread_mutex_unlock(&events.lock);
        text = line;
    }
    free(text);
}

/* A new object whose first member is "event". send() frees the object. */
static cJSON *event(const char *name)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "event", name);
    return object;
}

/* Opens a pipe or a device, or makes a file. Replaces a file only if it holds earlier events, so that a wrong path does
 * not destroy data. */
static gls_status open_file(const char *path)
{
    static const char first[] = "{\"event\"";
    char found[sizeof first - 1];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        bool own = fd >= 0 && read(fd, found, sizeof found) == (ssize_t)sizeof found &&
                   memcmp(found, first, sizeof found) == 0;
        if (fd >= 0) close(fd);
        if (!own) return gls_fail(GLS_ERR_OUTPUT, "--progress-file: %s: exists already and holds no events", path);
    }
    events.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (events.fd >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "--progress-file: %s: %s", path, strerror(errno));
}

gls_status cmd_events_begin(const cmd_common *common, const char *command, bool (*go_on)(void))
{
    events.go_on = go_on;
    events.mode = (cmd_progress_mode)common->progress;
    /* --progress-file takes precedence: standard error then stays text */
    if (common->progress_file) {
        gls_status status = open_file(common->progress_file);
        if (status) return status;
    } else if (events.mode == CMD_PROGRESS_JSON) {
        events.fd = STDERR_FILENO;
    }
    if (events.fd < 0) return GLS_OK;
    events.outputs = cJSON_CreateArray();
    cJSON *start = event("start");
    cJSON_AddNumberToObject(start, "version", FORMAT);
    cJSON_AddStringToObject(start, "command", command);
    cJSON_AddStringToObject(start, "software", gls_version());
    send(start);
    return GLS_OK;
}

cmd_progress_mode cmd_events_mode(void)
{
    return events.mode;
}

bool cmd_events_own_stderr(void)
{
    return events.fd == STDERR_FILENO;
}

void cmd_event_message(const char *level, const char *text)
{
    if (events.fd < 0) return;
    cJSON *object = event(level);
    cJSON_AddStringToObject(object, "text", text);
    send(object);
}

void cmd_event_device(const char *renderer, uint64_t seeds)
{
    if (events.fd < 0) return;
    cJSON *object = event("device");
    cJSON_AddStringToObject(object, "renderer", renderer);
    cJSON_AddNumberToObject(object, "seeds", (double)seeds);
    send(object);
}

void cmd_event_phase(gls_phase phase)
{
    if (events.fd < 0) return;
    cJSON *object = event("phase");
    cJSON_AddStringToObject(object, "name", phases[phase]);
    send(object);
}

void cmd_event_progress(const gls_progress *p, double seconds)
{
    if (events.fd < 0) return;
    cJSON *object = event("progress");
    cJSON_AddStringToObject(object, "phase", phases[p->phase]);
    cJSON_AddNumberToObject(object, "done", (double)p->done);
    cJSON_AddNumberToObject(object, "total", (double)p->total);
    if (p->phase == GLS_PHASE_TRACK) {
        cJSON_AddNumberToObject(object, "streamlines", (double)p->streamlines);
        cJSON_AddNumberToObject(object, "points", (double)p->points);
        cJSON *rejected = cJSON_AddObjectToObject(object, "rejected");
        for (int v = GLS_VERDICT_KEPT + 1; v < GLS_VERDICT_COUNT; v++)
            cJSON_AddNumberToObject(rejected, gls_verdict_name((gls_verdict)v), (double)p->verdicts[v]);
    }
    cJSON_AddNumberToObject(object, "seconds", seconds);
    /* the time left, if the rest takes as long for each unit as the part that is done */
    if (p->done > 0)
        cJSON_AddNumberToObject(object, "eta", seconds * ((double)p->total - (double)p->done) / (double)p->done);
    else
        cJSON_AddNullToObject(object, "eta");
    send(object);
}

void cmd_event_output(const char *path)
{
    if (events.fd < 0 || !path) return;
    cJSON_AddItemToArray(events.outputs, cJSON_CreateString(path));
}

void cmd_event_end(int code)
{
    if (events.fd < 0) return;
    cJSON *object = event("end");
    cJSON_AddStringToObject(object, "status",
                            code == CMD_EXIT_OK      ? "ok"
                            : code > CMD_EXIT_SIGNAL ? "interrupted"
                                                     : "failed");
    cJSON_AddNumberToObject(object, "exit", code);
    cJSON_AddItemToObject(object, "output", events.outputs);
    events.outputs = NULL;
    send(object);
    events.fd = -1;
}

/* The end event without cJSON, malloc and locks, which a signal handler must not use: the digits of the code are
 * written into a fixed line, and the list of outputs stays empty. */
void cmd_event_end_by_signal(int code)
{
    char line[] = "{\"event\":\"end\",\"status\":\"interrupted\",\"exit\":000,\"output\":[]}\n";
    char *digits = strstr(line, "000");
    struct pollfd ready = {.fd = events.fd, .events = POLLOUT};
    for (int i = 2; i >= 0; i--, code /= 10) digits[i] = (char)('0' + code % 10);
    /* without a reader a write would block forever */
    if (events.fd < 0 || events.broken || poll(&ready, 1, 0) <= 0) return;
    ssize_t written = write(events.fd, line, sizeof line - 1);
    (void)written;
}
