/* Progress of a run: a bar on a terminal, lines elsewhere, the launcher icon, and events. */
#include "cmd/progress.h"
#include "cmd/message.h"
#include "options/help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/text.h"

/* --- The icon in the desktop's launcher, and notifications, through libunity. */

#ifdef GLS_HAVE_UNITY
/* unity.h and the headers that it includes use extensions that -Wpedantic would report. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <unity.h>
#pragma GCC diagnostic pop

/* The icon; its owner holds one reference. */
typedef UnityLauncherEntry launcher_icon;

/* Whether a session bus exists. Without this test GIO would start a bus, or wait for one. */
static int session_bus_exists(void)
{
    char path[64];
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    if (address && *address) return 1;
    snprintf(path, sizeof path, "/run/user/%u/bus", (unsigned)getuid());
    return access(path, R_OK | W_OK) == 0;
}

/* Sends the messages that libunity queued on the default main context; no other code here runs that context. */
static void deliver(void)
{
    for (int i = 0; i < 64 && g_main_context_iteration(NULL, FALSE); i++) continue;
}

/* Shows progress 0 on the icon; NULL: no bus or no launcher. Call this and the next functions on one thread. */
static launcher_icon *create_icon(void)
{
    if (!session_bus_exists()) return NULL;
    /* A program of the command line has no icon unless its .desktop file is installed. GLSLINES_DESKTOP_ID names
     * another icon to use, such as that of the terminal. */
    const char *id = getenv("GLSLINES_DESKTOP_ID");
    GError *error = NULL;
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    if (!bus) {
        g_clear_error(&error);
        return NULL;
    }
    /* the program must survive the end of the bus */
    g_dbus_connection_set_exit_on_close(bus, FALSE);
    launcher_icon *icon = unity_launcher_entry_get_for_desktop_id(id && *id ? id : "glslines.desktop");
    g_object_unref(bus);
    if (!icon) return NULL;
    unity_launcher_entry_set_progress(icon, 0.0);
    unity_launcher_entry_set_progress_visible(icon, TRUE);
    deliver();
    return icon;
}

/* Shows a fraction from 0 to 1. */
static void update_icon(launcher_icon *icon, double fraction)
{
    if (!icon) return;
    unity_launcher_entry_set_progress(icon, fraction);
    deliver();
}

/* Removes the progress and frees the icon. */
static void destroy_icon(launcher_icon *icon)
{
    if (!icon) return;
    unity_launcher_entry_set_progress_visible(icon, FALSE);
    deliver();
    /* flush the bus before the program ends, else the icon would show progress for ever */
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    if (bus) {
        g_dbus_connection_flush_sync(bus, NULL, NULL);
        g_object_unref(bus);
    }
    g_object_unref(icon);
}

void cmd_launcher_notify(const char *title, const char *text)
{
    GVariantBuilder actions, hints;
    GDBusConnection *bus = session_bus_exists() ? g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL) : NULL;
    if (!bus) return;
    g_dbus_connection_set_exit_on_close(bus, FALSE);
    g_variant_builder_init(&actions, G_VARIANT_TYPE("as"));
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    /* arguments of Notify by the Desktop Notifications Specification: program, id 0 for a new one, no icon, title,
     * text, actions, hints, and -1 for the desktop's own time of display */
    GVariant *what = g_variant_new("(susssasa{sv}i)", "glslines", 0u, "", title, text, &actions, &hints, -1);
    /* wait at most two seconds for a desktop that does not answer */
    GVariant *answer = g_dbus_connection_call_sync(bus, "org.freedesktop.Notifications",
                                                   "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
                                                   "Notify", what, NULL, G_DBUS_CALL_FLAGS_NONE, 2000, NULL, NULL);
    if (answer) g_variant_unref(answer);
    g_object_unref(bus);
}

#else

typedef void launcher_icon;
#define create_icon() NULL
#define update_icon(icon, fraction) (void)(icon)
#define destroy_icon(icon) (void)(icon)

void cmd_launcher_notify(const char *title, const char *text)
{
    (void)title;
    (void)text;
}

#endif

/* --- Progress. */

/* The state of a phase. */
typedef struct cmd_progress {
    bool begun, shown; /* shown: a bar or lines are printed */
    bool terminal;     /* true: progress is a bar, because stderr is a terminal or --progress bar is given */
    bool lines;        /* show progress even if standard error is not a terminal */
    /* times by gls_clock_seconds(): first report of the phase, last bar or line, last event */
    double start, last_time, last_event;
    /* number of seeds, voxels or bytes done at the time last_time */
    uint64_t last_done;
    /* the last time at which more was done than before, and how much */
    double moved;
    uint64_t moved_to;
    /* the icon; NULL: none */
    launcher_icon *launcher;
} cmd_progress;

/* Decides at the first report of a phase how progress is shown: as a bar, as lines, or not at all. */
static void begin_progress(cmd_progress *progress)
{
    progress->begun = true;
    cmd_progress_mode mode = cmd_events_mode();
    progress->terminal = mode == CMD_PROGRESS_BAR || (mode == CMD_PROGRESS_AUTO && isatty(STDERR_FILENO) == 1);
    progress->shown = cmd_message_info_enabled() && mode != CMD_PROGRESS_JSON && mode != CMD_PROGRESS_NONE &&
                      (progress->terminal || progress->lines);
    progress->last_done = 0;
    progress->start = gls_clock_seconds();
    progress->last_time = progress->last_event = progress->moved = progress->start;
    progress->moved_to = 0;
    progress->launcher = create_icon();
}

/* Draws the bar over the previous line. fraction: share of the work done, 0 to 1; width: columns of the terminal. */
static void draw_bar(double fraction, const char *text, int width)
{
    char line[512], bar[128];
    /* columns: length of the bar, which leaves 12 characters for percentage and brackets; 0 on a narrow terminal */
    int columns = width - (int)strlen(text) - 12;
    if (columns > 40) columns = 40;
    if (columns < 5) columns = 0;
    int full = (int)(fraction * columns);
    for (int i = 0; i < columns; i++) bar[i] = i < full ? '#' : '.';
    bar[columns] = '\0';
    gls_snprintf(line, sizeof line, "%3.0f %% %s%.40s%s  %.199s", 100 * fraction, columns ? "[" : "", bar,
                 columns ? "]" : "", text);
    if ((int)strlen(line) >= width) line[width - 1] = '\0';
    cmd_message_status_line(line);
    cmd_terminal_progress(fraction);
}

/* Whether it is time to print the next line or to draw the bar again. If so, stores the time and the number done. */
static bool is_due(cmd_progress *progress, double now, uint64_t done, uint64_t total)
{
    double since = now - progress->last_time;
    bool due = progress->terminal ? since >= 0.1 || done >= total
                                  : since >= 5 || (since >= 1 && done - progress->last_done >= total / 10);
    if (due) {
        progress->last_time = now;
        progress->last_done = done;
    }
    return due;
}

/* The share of the work that is done, 0 to 1; 1 if there is no work (total 0). */
static double fraction_of(uint64_t done, uint64_t total)
{
    return total ? (double)done / (double)total : 1.0;
}

/* The time that the rest of the phase takes, s, at the rate up to the last time at which more was done: while nothing
 * moves it falls. NAN: not known, because nothing is done, or because the time is over. */
static double time_left(cmd_progress *progress, const gls_progress *p, double now)
{
    if (p->done > progress->moved_to) {
        progress->moved_to = p->done;
        progress->moved = now;
    }
    const double fraction = fraction_of(progress->moved_to, p->total);
    if (p->done >= p->total) return 0;
    if (!(fraction > 0)) return NAN;
    const double left = (progress->moved - progress->start) * (1 - fraction) / fraction - (now - progress->moved);
    return left > 0 ? left : NAN;
}

/* Writes the time left, or "?" if it is not known. Returns text. */
static char *time_left_text(double left, char *text, size_t size)
{
    if (left >= 0) return gls_format_duration(left, text, size);
    snprintf(text, size, "?");
    return text;
}

/* Writes the time of day to text[16]. A line in a log needs the time, to show that the run goes on. */
static char *time_of_day(char *text)
{
    time_t now = time(NULL);
    struct tm local;
    strftime(text, 16, "%H:%M:%S", localtime_r(&now, &local));
    return text;
}

/* Writes how many streamlines were rejected, by reason: "rejected 102 poor end, 4 too short, "; "" if none were. */
static void rejected_text(const gls_progress *p, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int v = GLS_VERDICT_KEPT + 1; v < GLS_VERDICT_COUNT && used < size; v++)
        if (p->verdicts[v] > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s, ", used > 0 ? "" : "rejected ",
                                     GLS_COUNT(p->verdicts[v]), gls_verdict_name((gls_verdict)v));
    /* names of verdicts have an underscore in place of a blank */
    for (char *c = text; *c; c++)
        if (*c == '_') *c = ' ';
}

/* For each phase: printer of counts, words after the counts (NULL: shows no progress), unit of the rate. */
static const struct {
    char *(*print)(uint64_t n, char *text, size_t size);
    const char *what, *unit;
} counted[] = {
    [GLS_PHASE_FIT] = {gls_format_count, "voxels fitted", "voxels"},
    [GLS_PHASE_TRACK] = {gls_format_count, "seeds", "points"},
    [GLS_PHASE_MERGE] = {gls_format_bytes, "merged", "bytes"},
    [GLS_PHASE_WRITE] = {NULL, NULL, NULL},
    [GLS_PHASE_TEST] = {gls_format_count, "shuffles", "shuffles"},
};

/* Shows the progress of a phase: counts, rate and time left; where progress is shown as lines, tracking also shows the
 * number of streamlines, and of rejected ones by reason. */
static void show(cmd_progress *progress, const gls_progress *p)
{
    const double now = gls_clock_seconds(), elapsed = now - progress->start, fraction = fraction_of(p->done, p->total);
    const bool tracks = p->phase == GLS_PHASE_TRACK;
    if (!counted[p->phase].what || !is_due(progress, now, p->done, p->total)) return;
    update_icon(progress->launcher, fraction);
    if (!progress->shown) return;
    char done[32], total[32], rate[32], left[32], clock[16], rejected[300], lines[400] = "", text[600];
    counted[p->phase].print(p->done, done, sizeof done);
    counted[p->phase].print(p->total, total, sizeof total);
    gls_format_rate(elapsed > 0 ? (double)(tracks ? p->points : p->done) / elapsed : 0, rate, sizeof rate);
    time_left_text(time_left(progress, p, now), left, sizeof left);
    rejected_text(p, rejected, sizeof rejected);
    /* a line in a log also has the number of streamlines, for which a terminal has no space beside the bar */
    if (tracks && !progress->terminal)
        snprintf(lines, sizeof lines, "%s streamlines, %s", GLS_COUNT(p->streamlines), rejected);
    snprintf(text, sizeof text, "%s/%s %s, %s%s%s/s, %s left", done, total, counted[p->phase].what, lines, rate,
             counted[p->phase].unit, left);
    if (progress->terminal)
        draw_bar(fraction, text, cmd_terminal_width(stderr));
    else
        cmd_info("[%s] %3.0f %%  %s", time_of_day(clock), 100 * fraction, text);
}

/* Sends an event, unless the last one was less than 0.2 s ago and the phase is not at its end. */
static void send_event(cmd_progress *progress, const gls_progress *p)
{
    double now = gls_clock_seconds();
    if (p->done < p->total && now - progress->last_event < 0.2) return;
    progress->last_event = now;
    cmd_event_progress(p, now - progress->start, time_left(progress, p, now));
}

/* Function `begin` of the monitor: a phase begins; until end() a signal only asks the run to stop. */
static void begin(void *user, gls_phase phase)
{
    cmd_progress *progress = user;
    progress->begun = false;
    cmd_event_phase(phase);
    cmd_interrupt_catch();
}

/* Called by the library from time to time; returns false to stop the run after a signal. */
static bool step(void *user, const gls_progress *p)
{
    cmd_progress *progress = user;
    /* show nothing while the size of the phase is not known */
    if (p->total == 0) return !cmd_interrupted();
    if (!progress->begun) begin_progress(progress);
    send_event(progress, p);
    show(progress, p);
    return !cmd_interrupted();
}

/* Function `end` of the monitor: removes the bar and the icon's progress; a signal may end the program again. */
static void end(void *user, gls_phase phase)
{
    cmd_progress *progress = user;
    (void)phase;
    if (progress->begun && progress->terminal && progress->shown) {
        cmd_message_status_line(NULL);
        cmd_terminal_progress_end();
    }
    if (progress->begun) destroy_icon(progress->launcher);
    progress->begun = false;
    cmd_interrupt_release();
}

const gls_monitor *cmd_monitor(bool lines)
{
    static cmd_progress progress;
    static const gls_monitor monitor = {.user = &progress, .begin = begin, .step = step, .end = end};
    progress.lines = lines;
    return &monitor;
}
