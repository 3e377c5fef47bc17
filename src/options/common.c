/* The options that every command has. */
#include "options/rows.h"
#include "workflow/params.h"

#define CMD_OWNER cmd_common
const cmd_option cmd_common_options[] = {
    CMD_OPTION("General", FLAG, quiet, "quiet", 'q', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print errors and warnings only."),
    CMD_OPTION("General", COUNT, verbose, "verbose", 'v', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print more details; -vv also prints messages of the driver."),
    CMD_OPTION("General", CHOICE, progress, "progress", 0, NULL, NULL, GLS_ANY, NULL, CMD_PROGRESS_CHOICES,
               "How progress is shown on standard error. json: an object a line, for programs; nothing else then comes "
               "there. auto: a bar on a terminal, else lines."),
    CMD_OPTION("General", STRING, progress_file, "progress-file", 0, "FILE", NULL, GLS_ANY, "", NULL,
               "Write the objects of --progress json to this file or named pipe."),
    CMD_OPTION("General", INT, nthreads, "nthreads", 0, "N", NULL, GLS_BETWEEN(1, 4096),
               "one for each processor that the process may use", NULL,
               "Threads on the CPU: of fits, of reading and writing, and of the software renderer."),
    CMD_OPTION("General", FLAG, notify, "notify", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Show a notification on the desktop when a run of more than a minute has ended (builds with libunity)."),
    CMD_OPTION("General", FLAG, help, "help", 'h', NULL, NULL, GLS_ANY, NULL, NULL, "Print this help and exit."),
    {.name = NULL},
};
