#include "cmd/exit.h"

cmd_exit cmd_exit_from_status(gls_status status)
{
    switch (status) {
    case GLS_OK: return CMD_EXIT_OK;
    case GLS_ERR_ARGUMENT: return CMD_EXIT_USAGE;
    case GLS_ERR_INPUT: return CMD_EXIT_INPUT;
    case GLS_ERR_OUTPUT: return CMD_EXIT_OUTPUT;
    case GLS_ERR_MEMORY: return CMD_EXIT_INTERNAL;
    case GLS_ERR_DEVICE: return CMD_EXIT_DEVICE;
    case GLS_ERR_UNSUPPORTED: return CMD_EXIT_UNSUPPORTED;
    case GLS_ERR_EMPTY: return CMD_EXIT_EMPTY;
    case GLS_ERR_CANCELLED: return CMD_EXIT_INTERRUPTED;
    }
    return CMD_EXIT_INTERNAL;
}

const char *cmd_exit_text(size_t i)
{
    static const char *const text[] = {
        "0    success, an empty result included",
        "1    internal error, or out of memory",
        "2    usage: unknown option, value out of range",
        "3    bad input: missing, damaged or inconsistent files",
        "4    the output cannot be written, or exists and --force is absent",
        "5    no usable device, or the device failed",
        "6    empty result, with --fail-if-empty",
        "7    valid, but not supported by this version or this device",
        "130  interrupted (Ctrl-C, SIGTERM)",
    };
    return i < sizeof text / sizeof *text ? text[i] : NULL;
}
