/* The program glslines: finds the command, parses its options and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <glslines/common.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/bridge.h"
#include "options/help.h"
#include "options/options.h"
#include "options/parser.h"
#include "util/allocation.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"

/* --notify shows nothing at the end of a run that took fewer seconds. */
#define NOTIFY_SECONDS 60

static const cmd_command *find_command(const char *name)
{
    for (const cmd_command *const *c = cmd_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

/* Reports a word that is no command of glslines. If the word is a command of another program, the message names what
 * does its work here; else the most similar command, if there is one. Returns the exit status. */
static int unknown_command(const char *name)
{
    const char *here = cmd_bridge_command(name);
    if (here) return cmd_error(CMD_EXIT_USAGE, "unknown command '%s'; here it is 'glslines %s'", name, here);
    const char *words[CMD_MAX_OPTIONS];
    size_t n = 0;
    for (const cmd_command *const *c = cmd_commands; *c; c++) words[n++] = (*c)->name;
    const char *kind = *name == '-' ? "option" : "command", *near = gls_nearest_word(name, words, n);
    if (near) return cmd_error(CMD_EXIT_USAGE, "unknown %s '%s'; did you mean '%s'?", kind, name, near);
    return cmd_error(CMD_EXIT_USAGE, "unknown %s '%s'; 'glslines help' lists the commands", kind, name);
}

/* Shows a notification at the end of a run that took at least NOTIFY_SECONDS. */
static void notify(const char *name, double seconds, int code)
{
    char title[64], text[64];
    if (seconds < NOTIFY_SECONDS) return;
    snprintf(title, sizeof title, "glslines %s", name);
    gls_snprintf(text, sizeof text, "%s after %.0f s (exit code %d)", code ? "Failed" : "Done", seconds, code);
    cmd_launcher_notify(title, text);
}

#define PREFIX "GLSLINES_"

/* Known variables without their prefix. src/doc/environment.md describes them. */
static const char *const known[] = {
#ifdef GLS_TEST_VARIABLES
    "BENCH_DATA", "CHECKED", "DUMP_SHADERS", "FORCE_LIMITS", "INJECT",
    "IN_FLIGHT",  "MAP",     "ODF_CELLS",    "RECEIPTS",     "SHADER_DIR",
#endif
    "DESKTOP_ID", "LIBRARY", "OSC",          "PROBE",        "SELF_TEST",
};
/* Variables that module files of clusters set for every program. */
static const char *const of_modules[] = {"DIR", "HOME", "ROOT", "VERSION"};

/* Whether a name is in the list. */
static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Warns of each environment variable that begins with GLSLINES_ and is not known, except those that module files of
 * clusters set. */
static void check_environment(void)
{
    const size_t n_known = sizeof known / sizeof *known, n_of_modules = sizeof of_modules / sizeof *of_modules;
    char name[64], hint[96] = "";
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0) continue;
        const char *own = *entry + strlen(PREFIX);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(own, "="), own);
        if (is_one_of(name, known, n_known) || is_one_of(name, of_modules, n_of_modules)) continue;
        const char *near = gls_nearest_word(name, known, n_known);
        if (near) snprintf(hint, sizeof hint, "; did you mean " PREFIX "%s?", near);
        gls_log(GLS_LOG_WARNING,
                "the variable " PREFIX "%s of the environment is unknown and has no effect%s ('glslines help "
                "environment')",
                name, near ? hint : "");
    }
}

/* Parses the options of a command and runs it; --help comes first. Returns the exit status of the process. */
static int run_command(const cmd_command *command, int argc, char **argv)
{
    alignas(max_align_t) char values[CMD_MAX_VALUES] = {0};
    cmd_arguments arguments;
    char error[GLS_MESSAGE_BYTES];
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
        /* Show the help even if the rest of the line is wrong, because a user who asks for help may not know the
         * correct form. */
        cmd_help(stdout, command, cmd_terminal_width(stdout));
        return CMD_EXIT_OK;
    }
    command->set_defaults(values);
    if (!cmd_options_parse(command, argc, argv, 2, values, &arguments, error, sizeof error))
        return cmd_error(CMD_EXIT_USAGE, "%s", error);
    cmd_common common;
    memcpy(&common, values, sizeof common);
    if (common.help) {
        cmd_help(stdout, command, cmd_terminal_width(stdout));
        return CMD_EXIT_OK;
    }
    cmd_message_init(&common);
    check_environment();
    cmd_options_log(&arguments);
    gls_status status = gls_set_threads(common.nthreads);
    if (status) return cmd_error_status(status);
    double start = gls_clock_seconds();
    int code = cmd_finish(cmd_events_begin(&common, command->name, cmd_goes_on));
    if (!code) code = command->run(values, &arguments);
    if (common.notify) notify(command->name, gls_clock_seconds() - start, code);
    return code;
}

/* Chooses between the overview, the version and a command; argv as for main(). */
static int run(int argc, char **argv)
{
    if (argc < 2) {
        cmd_print_overview(stderr);
        return CMD_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("glslines %s\n", gls_version());
        return CMD_EXIT_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cmd_print_overview(stdout);
        return CMD_EXIT_OK;
    }
    const cmd_command *command = find_command(argv[1]);
    return command ? run_command(command, argc, argv) : unknown_command(argv[1]);
}

/* Opens /dev/null in place of standard descriptors that are closed at the start. Otherwise the next file would get one
 * of their numbers, and messages would be written into the file. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        /* read-only, so that writing to the descriptor fails as if it were closed */
        if (open("/dev/null", O_RDONLY) != fd) _exit(CMD_EXIT_INTERNAL);
    }
}

/* Returns the exit code; ends the program itself if the address space is limited. Threads of OpenBLAS may then wait for
 * memory forever, and exit() would wait for these threads: _exit() does not. */
static int leave(int code)
{
    if (gls_address_limit() == 0) return code;
    fflush(NULL);
    _exit(code);
}

/* Bytes of stack that the first thread needs, and those that it gets where ulimit -s lets it have them. */
#define STACK_LEAST ((rlim_t)1 << 20)
#define STACK_WANTED ((rlim_t)8 << 20)

/* Raises the limit on the stack of the first thread where it is low. Returns false if it stays too low. */
static bool raise_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST) return true;
    limit.rlim_cur = limit.rlim_max < STACK_WANTED ? limit.rlim_max : STACK_WANTED;
    return limit.rlim_cur >= STACK_LEAST && setrlimit(RLIMIT_STACK, &limit) == 0;
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    if (!raise_stack())
        return cmd_error(CMD_EXIT_USAGE, "the limit on the stack is below %d kB: raise it with ulimit -s 8192",
                         (int)(STACK_LEAST >> 10));
    cmd_interrupt_init();
    int code = run(argc, argv);
    /* A result that did not reach its reader is a failure. A reader that left, such as head, wants no message. */
    errno = 0;
    if (code == CMD_EXIT_OK && (fflush(stdout) != 0 || ferror(stdout)))
        code = errno == EPIPE ? CMD_EXIT_SIGNAL + SIGPIPE
                              : cmd_error(CMD_EXIT_OUTPUT, "standard output: cannot be written");
    if (code == CMD_EXIT_INTERRUPTED) code = cmd_interrupt_code();
    cmd_event_end(code);
    return leave(code);
}
