#include "cmd/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END "\033]9;4;0\007"

static volatile sig_atomic_t shown;
static int last_percent = -1;

/* A terminal that understands escape sequences. */
static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

bool cmd_terminal_has_colour(void)
{
    const char *none = getenv("NO_COLOR");
    return (!none || !*none) && is_terminal();
}

/* The Linux console prints what it does not know, tmux and screen show it nowhere. */
static bool takes_progress(void)
{
    const char *own = getenv("GLSLINES_OSC");
    return is_terminal() && strcmp(getenv("TERM"), "linux") != 0 && !getenv("TMUX") && !getenv("STY") &&
           !(own && strcmp(own, "0") == 0);
}

void cmd_terminal_progress(double fraction)
{
    static int calls;
    int percent = fraction <= 0 ? 0 : fraction >= 1 ? 100 : (int)(100 * fraction);
    /* bars are drawn ten times a second */
    if ((percent == last_percent && ++calls < 40) || !takes_progress()) return;
    calls = 0;
    last_percent = percent;
    shown = 1;
    fprintf(stderr, "\033]9;4;1;%d\007", percent);
}

void cmd_terminal_progress_end(void)
{
    if (!shown) return;
    fputs(END, stderr);
    fflush(stderr);
    shown = 0;
    last_percent = -1;
}

void cmd_terminal_end_by_signal(void)
{
    if (!shown) return;
    ssize_t written = write(STDERR_FILENO, END, sizeof END - 1);
    (void)written;
}
