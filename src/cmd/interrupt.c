#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/exit.h"

static volatile sig_atomic_t catching, signalled;

static void on_signal(int number)
{
    (void)number;
    if (!catching || signalled) _exit(CMD_EXIT_INTERRUPTED);
    signalled = 1;
}

void cmd_interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    static const int numbers[] = {SIGINT, SIGTERM};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* a shell starts background jobs with SIGINT ignored, which has to stay so */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
}

void cmd_interrupt_catch(void)
{
    signalled = 0;
    catching = 1;
}

void cmd_interrupt_release(void)
{
    catching = 0;
}

bool cmd_interrupted(void)
{
    return signalled != 0;
}
