/* The glslines tool: finds the command, parses its options and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glslines/common.h>

#include "cmd/commands.h"
#include "cmd/exit.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"

static const cmd_command *const commands[] = {&cmd_track, &cmd_merge,   &cmd_fit,  &cmd_phantom,
                                              &cmd_score, &cmd_devices, &cmd_bench};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const cmd_command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *words[N_COMMANDS + 1];
    for (size_t i = 0; i < N_COMMANDS; i++) words[i] = commands[i]->name;
    words[N_COMMANDS] = "help";
    const char *kind = *name == '-' ? "option" : "command", *near = cmd_nearest(name, words, N_COMMANDS + 1);
    if (near) return cmd_error(CMD_EXIT_USAGE, "unknown %s '%s'; did you mean '%s'?", kind, name, near);
    return cmd_error(CMD_EXIT_USAGE, "unknown %s '%s'; 'glslines help' lists the commands", kind, name);
}

static void print_overview(FILE *out)
{
    fprintf(out, "glslines %s: diffusion MRI tractography on any GPU with OpenGL compute shaders\n\n", gls_version());
    fputs("Usage: glslines COMMAND [arguments] [options]\n\nCommands:\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++) fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help       Help on a command: glslines help COMMAND\n\nExit codes:\n", out);
    cmd_help_exit_codes(out, cmd_terminal_width(out));
    fputs("\nExamples:\n"
          "  Track the built-in phantom, to tracks.trx:\n    glslines track\n"
          "  Track your data:\n    glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz -o tracks.trx\n"
          "  See what can compute here:\n    glslines devices\n",
          out);
}

/* help [COMMAND], and for the README help --markdown COMMAND. */
static int run_help(int argc, char **argv)
{
    bool markdown = argc > 2 && strcmp(argv[2], "--markdown") == 0;
    int at = markdown ? 3 : 2;
    if (argc > at + 1) return cmd_error(CMD_EXIT_USAGE, "help: unexpected argument '%s'", argv[at + 1]);
    if (argc == at) {
        if (markdown) return cmd_error(CMD_EXIT_USAGE, "help --markdown: needs a command");
        print_overview(stdout);
        return CMD_EXIT_OK;
    }
    const cmd_command *command = find_command(argv[at]);
    if (!command) return unknown_command(argv[at]);
    if (markdown)
        cmd_help_markdown(stdout, command);
    else
        cmd_help(stdout, command, cmd_terminal_width(stdout));
    return CMD_EXIT_OK;
}

static int run_command(const cmd_command *command, int argc, char **argv)
{
    alignas(max_align_t) char values[CMD_MAX_VALUES] = {0};
    cmd_arguments arguments;
    char error[1024];
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
        /* also where the rest of the line is wrong: who asks for help may not know how it has to look */
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
    return command->run(command, values, &arguments);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CMD_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("glslines %s\n", gls_version());
        return CMD_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0) return run_help(argc, argv);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return CMD_EXIT_OK;
    }
    const cmd_command *command = find_command(argv[1]);
    return command ? run_command(command, argc, argv) : unknown_command(argv[1]);
}

/* A program may be started with standard descriptors closed. The next file would get their numbers, and messages would
 * be written into it. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        if (open("/dev/null", O_RDONLY) != fd) _exit(CMD_EXIT_INTERNAL); /* writing to it fails, as it should */
    }
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    cmd_interrupt_init();
    int code = run(argc, argv);
    /* a result that did not reach its reader is not a success; a reader that left, as head does, wants no message */
    errno = 0;
    if (code == CMD_EXIT_OK && (fflush(stdout) != 0 || ferror(stdout)))
        code = errno == EPIPE ? CMD_EXIT_SIGNAL + SIGPIPE
                              : cmd_error(CMD_EXIT_OUTPUT, "standard output: cannot be written");
    return code == CMD_EXIT_INTERRUPTED ? cmd_interrupt_code() : code;
}
