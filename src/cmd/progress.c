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
    *progress = (cmd_progress){.shown = cmd_message_info_enabled(), .terminal = isatty(STDERR_FILENO) == 1, .start = cmd_clock()};
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
    snprintf(line, sizeof line, "%3.0f %% %s%.40s%s  %.199s", 100 * fraction, columns ? "[" : "", bar, columns ? "]" : "", text);
    if ((int)strlen(line) >= width) line[width - 1] = '\0';
    cmd_message_status_line(line);
}

bool cmd_progress_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    cmd_progress *progress = user;
    double now = cmd_clock(), elapsed = now - progress->start, since = now - progress->last_time;
    double fraction = seeds_total ? (double)seeds_done / (double)seeds_total : 1.0;
    bool last = seeds_done >= seeds_total;
    bool due = progress->terminal ? since >= 0.1 || last : since >= 5 || (since >= 1 && seeds_done - progress->last_seeds >= seeds_total / 10);
    if (due) cmd_launcher_update(progress->launcher, fraction);
    if (due && progress->shown) {
        char done[32], total[32], lines[32], rate[32], left[32], text[200];
        cmd_text_count(seeds_done, done, sizeof done);
        cmd_text_count(seeds_total, total, sizeof total);
        cmd_text_count(streamlines, lines, sizeof lines);
        cmd_text_rate(elapsed > 0 ? (double)points / elapsed : 0, rate, sizeof rate);
        if (fraction > 0)
            cmd_text_duration(elapsed * (1 - fraction) / fraction, left, sizeof left);
        else
            strcpy(left, "?");
        /* on a terminal the bar takes the place of the number of streamlines */
        if (progress->terminal) {
            snprintf(text, sizeof text, "%s/%s seeds, %spoints/s, %s left", done, total, rate, left);
            draw_bar(fraction, text, cmd_terminal_width(stderr));
        } else {
            cmd_info("%3.0f %%  %s/%s seeds, %s streamlines, %spoints/s, %s left", 100 * fraction, done, total, lines, rate, left);
        }
    }
    if (due) {
        progress->last_time = now;
        progress->last_seeds = seeds_done;
    }
    return !cmd_interrupted();
}

void cmd_progress_finish(cmd_progress *progress)
{
    if (progress->terminal && progress->shown) cmd_message_status_line(NULL);
    cmd_launcher_destroy(progress->launcher);
    progress->launcher = NULL;
}
