/* Any bytes as a command line, an argument a line, the command first: values or one line of an error, never a crash. */
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "options/help.h"
#include "options/parser.h"
#include "cmd/commands.h"
#include "file.h"

#define MOST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    alignas(max_align_t) char values[CMD_MAX_VALUES] = {0};
    char *argv[MOST + 1] = {"glslines"}, error[1024] = "";
    int argc = 1;
    char *text = strndup((const char *)data, bytes);
    if (!text) return 0;
    for (char *rest = text, *line; argc < MOST && (line = strsep(&rest, "\n"));) argv[argc++] = line;
    for (const cmd_command *const *c = cmd_commands; *c; c++) {
        cmd_arguments arguments;
        if (strcmp((*c)->name, argv[1]) != 0) continue;
        (*c)->set_defaults(values);
        if (!cmd_options_parse(*c, argc, argv, 2, values, &arguments, error, sizeof error) &&
            (!*error || strchr(error, '\n')))
            abort();
    }
    free(text);
    return 0;
}
