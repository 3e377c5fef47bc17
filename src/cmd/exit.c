#include "cmd/exit.h"

cmd_exit cmd_exit_from_status(gls_status status)
{
    switch (status) {
    case GLS_OK: return CMD_EXIT_OK;
    case GLS_ERR_ARGUMENT: return CMD_EXIT_USAGE;
    case GLS_ERR_INPUT: return CMD_EXIT_INPUT;
    case GLS_ERR_OUTPUT: return CMD_EXIT_OUTPUT;
    case GLS_ERR_MEMORY: return CMD_EXIT_INTERNAL;
    case GLS_ERR_DEVICE:
    case GLS_ERR_LOST:
    case GLS_ERR_DEVICE_MEMORY: return CMD_EXIT_DEVICE;
    case GLS_ERR_UNSUPPORTED: return CMD_EXIT_UNSUPPORTED;
    case GLS_ERR_EMPTY: return CMD_EXIT_EMPTY;
    case GLS_ERR_CANCELLED: return CMD_EXIT_INTERRUPTED;
    case GLS_ERR_CONVERGENCE: return CMD_EXIT_CONVERGENCE;
    }
    return CMD_EXIT_INTERNAL;
}

static const struct {
    cmd_exit code;
    const char *text;
} table[] = {
    {CMD_EXIT_OK, "success; an empty result counts as success"},
    {CMD_EXIT_INTERNAL, "internal error, or out of memory"},
    {CMD_EXIT_USAGE, "usage: unknown option, value out of range"},
    {CMD_EXIT_INPUT, "bad input: missing, damaged or inconsistent files"},
    {CMD_EXIT_OUTPUT, "the output cannot be written, or it exists and --force is not given"},
    {CMD_EXIT_DEVICE, "no usable device, or the device failed or ran out of memory"},
    {CMD_EXIT_EMPTY, "empty result, with --fail-if-empty; no fixel, or no streamline to weight"},
    {CMD_EXIT_UNSUPPORTED, "valid, but not supported by this version or device"},
    {CMD_EXIT_CONVERGENCE, "written, but an iteration did not converge"},
    {CMD_EXIT_INTERRUPTED, "interrupted by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP, 152 by SIGXCPU"},
};

const char *cmd_exit_text(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i].text : NULL;
}

int cmd_exit_code(size_t i)
{
    return table[i].code;
}
