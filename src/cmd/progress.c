#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/launcher.h"
#include "cmd/message.h"
#include "cmd/text.h"

void cmd_progress_init(cmd_progress *progress)
{
    *progress = (cmd_progress){
        .shown = cmd_message_info_enabled(), .terminal = isatty(STDERR_FILENO) == 1, .start = cmd_clock()};
    progress->last_time = progress->start;
    progress->launcher = cmd_launcher_create();
}

static void draw_bar(double fraction, const char *text, int width)
{
    char line[512], bar[128];
    int columns = width - (int)strlen(text) - 12;
    if (columns > 40) columns = 40;
    if (columns < 5) columns = 0;
    int full = (int)(fraction * columns);
    for (int i = 0; i < columns; i++) bar[i] = i < full ? '#' : '.';
    bar[columns] = '\0';
    snprintf(line, sizeof line, "%3.0f %% %s%.40s%s  %.199s", 100 * fraction, columns ? "[" : "", bar,
             columns ? "]" : "", text);
    if ((int)strlen(line) >= width) line[width - 1] = '\0';
    cmd_message_status_line(line);
}

/* Whether the next line or the next state of the bar is due; notes it as shown. */
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

static double fraction_of(uint64_t done, uint64_t total)
{
    return total ? (double)done / (double)total : 1.0;
}

static char *time_left(double elapsed, double fraction, char *text, size_t size)
{
    if (fraction > 0) return cmd_text_duration(elapsed * (1 - fraction) / fraction, text, size);
    snprintf(text, size, "?");
    return text;
}

bool cmd_progress_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    cmd_progress *progress = user;
    double now = cmd_clock(), elapsed = now - progress->start, fraction = fraction_of(seeds_done, seeds_total);
    bool due = is_due(progress, now, seeds_done, seeds_total);
    if (due) cmd_launcher_update(progress->launcher, fraction);
    if (due && progress->shown) {
        char done[32], total[32], lines[32], rate[32], left[32], text[200];
        cmd_text_count(seeds_done, done, sizeof done);
        cmd_text_count(seeds_total, total, sizeof total);
        cmd_text_count(streamlines, lines, sizeof lines);
        cmd_text_rate(elapsed > 0 ? (double)points / elapsed : 0, rate, sizeof rate);
        time_left(elapsed, fraction, left, sizeof left);
        /* on a terminal the bar takes the place of the number of streamlines */
        if (progress->terminal) {
            snprintf(text, sizeof text, "%s/%s seeds, %spoints/s, %s left", done, total, rate, left);
            draw_bar(fraction, text, cmd_terminal_width(stderr));
        } else {
            cmd_info("%3.0f %%  %s/%s seeds, %s streamlines, %spoints/s, %s left", 100 * fraction, done, total, lines,
                     rate, left);
        }
    }
    return !cmd_interrupted();
}

/* print writes a count; what and unit name what is counted. */
static bool counted_step(cmd_progress *progress, uint64_t done, uint64_t total,
                         char *(*print)(uint64_t, char *, size_t), const char *what, const char *unit)
{
    double now = cmd_clock(), elapsed = now - progress->start, fraction = fraction_of(done, total);
    bool due = is_due(progress, now, done, total);
    if (due) cmd_launcher_update(progress->launcher, fraction);
    if (due && progress->shown) {
        char count[32], all[32], rate[32], left[32], text[200];
        print(done, count, sizeof count);
        print(total, all, sizeof all);
        cmd_text_rate(elapsed > 0 ? (double)done / elapsed : 0, rate, sizeof rate);
        time_left(elapsed, fraction, left, sizeof left);
        snprintf(text, sizeof text, "%s/%s %s, %s%s/s, %s left", count, all, what, rate, unit, left);
        if (progress->terminal)
            draw_bar(fraction, text, cmd_terminal_width(stderr));
        else
            cmd_info("%3.0f %%  %s", 100 * fraction, text);
    }
    return !cmd_interrupted();
}

bool cmd_progress_fit_step(void *user, size_t done, size_t total)
{
    return counted_step(user, done, total, cmd_text_count, "voxels fitted", "voxels");
}

bool cmd_progress_merge_step(void *user, uint64_t done, uint64_t total)
{
    return counted_step(user, done, total, cmd_text_bytes, "merged", "bytes");
}

void cmd_progress_finish(cmd_progress *progress)
{
    if (progress->terminal && progress->shown) cmd_message_status_line(NULL);
    cmd_launcher_destroy(progress->launcher);
    progress->launcher = NULL;
}
