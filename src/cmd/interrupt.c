#include "cmd/message.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include <glslines/common.h>

#include "util/clock.h"

/* Signals this soon after the first are the same end, told twice: a scheduler tells every process of a job, and the
 * parent of a process tells it, too. */
#define SECONDS_OF_ONE_END 0.5

static volatile sig_atomic_t catching, done, signalled;
static double first; /* when the last one that counts came */

static void on_signal(int number)
{
    const double now = gls_clock_seconds();
    if (signalled && now - first < SECONDS_OF_ONE_END) return;
    first = now;
    /* once all outputs are complete the little that is left goes on, and a second signal ends it */
    if (signalled || (!catching && !done)) {
        cmd_terminal_end_by_signal();
        cmd_event_end_by_signal(CMD_EXIT_SIGNAL + number);
        _exit(CMD_EXIT_SIGNAL + number);
    }
    signalled = number;
}

static bool waits_on(void *user)
{
    (void)user;
    return cmd_goes_on();
}

void cmd_interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* a shell starts background jobs with SIGINT ignored, and nohup SIGHUP, which has to stay so */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
    /* a write that cannot be done fails instead, with a message */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    gls_set_wait(waits_on, NULL);
}

void cmd_interrupt_catch(void)
{
    if (catching++ == 0) signalled = 0;
}

void cmd_interrupt_release(void)
{
    catching--;
}

void cmd_interrupt_done(void)
{
    done = 1;
}

bool cmd_interrupted(void)
{
    return signalled != 0 && !done;
}

bool cmd_goes_on(void)
{
    return !cmd_interrupted();
}

int cmd_interrupt_code(void)
{
    return signalled ? CMD_EXIT_SIGNAL + (int)signalled : CMD_EXIT_INTERRUPTED;
}
