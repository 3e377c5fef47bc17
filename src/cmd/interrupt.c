/* Signals: ask the command to stop while unfinished files exist, and end the program otherwise. */
#include "cmd/message.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "util/clock.h"

/* Time, s, during which further signals count as the same request as the last one that counted: a scheduler signals
 * every process of a job, and a parent signals its child as well. */
#define SECONDS_OF_ONE_END 0.5

/* catching: open calls of cmd_interrupt_catch(); done: outputs are complete; signalled: number of the signal, or 0 */
static volatile sig_atomic_t catching, done, signalled;
static double first; /* time of the last signal that counts */

/* Handler of SIGINT, SIGTERM and others. It notes the first signal while a command catches signals or has complete
 * outputs. Otherwise, and at the second signal, it ends the process at once. It calls only functions that are safe in
 * handlers. */
static void on_signal(int number)
{
    const double now = gls_clock_seconds();
    if (signalled && now - first < SECONDS_OF_ONE_END) return;
    first = now;
    /* end the program at the second signal, or at the first if no command catches signals or has complete outputs */
    if (signalled || (!catching && !done)) {
        cmd_end_by_signal(CMD_EXIT_SIGNAL + number);
        _exit(CMD_EXIT_SIGNAL + number);
    }
    signalled = number;
}

/* Called by the library while it waits for a pipe. Returns whether to go on waiting. */
static bool waits_on(void *user)
{
    (void)user;
    return cmd_goes_on();
}

void cmd_interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGXCPU};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* A signal that is ignored at the start stays ignored: SIGHUP by nohup, SIGINT by some shells in background. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
    /* The parent process may ignore SIGCHLD, but then this program could not see how its child processes ended. */
    signal(SIGCHLD, SIG_DFL);
    /* Ignore these signals: then writes to a closed pipe, or beyond the size limit of files, fail with a message. */
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
