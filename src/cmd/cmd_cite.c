/* `glslines cite`: prints references for a paper. */
#include "cmd/commands.h"
#include "cmd/message.h"
#include "render/report_parts.h"

CMD_VALUES(cite, int, GLS_CITE_TEXT) /* a gls_cite_format */
#define OPTION_OWNER cite_values

static const gls_option option_table[] = {
    GLS_OPTION("Output", CHOICE, o, "format", 0, NULL, NULL, GLS_ANY, NULL, "text|bibtex|cff",
               "text: a list of references. bibtex: entries for LaTeX and reference managers. cff: the program's "
               "CITATION.cff."),
    {.name = NULL},
};

/* Entry of the command: prints what to cite for the run of a tractogram or sidecar, or for all methods. */
static int run_cite(void *values, const cmd_arguments *arguments)
{
    char *text = NULL;
    gls_status status = gls_cite(arguments->n_positionals ? arguments->positional[0] : NULL,
                                 (gls_cite_format)((const cite_values *)values)->o, &text);
    return status ? cmd_error_status(status) : cmd_print(text);
}

const cmd_command command_cite = {
    .name = "cite",
    .synopsis = "[RUN] [options]",
    .summary = "Print what to cite: this program, and the papers of the methods of a run",
    .description = "Prints references to this program and to the papers whose methods a run used, by its sidecar.",
    .positionals = CMD_TEXTS("RUN", "Tractogram of 'glslines track', or its sidecar: the papers of its model and "
                                    "direction getter. Without RUN, the papers of all methods."),
    .max_positionals = 1,
    .rows = {{.table = option_table}},
    .examples = CMD_TEXTS("What to cite for a tractogram:", "glslines cite tracks.trx",
                          "The same for LaTeX:", "glslines cite tracks.trx --format bibtex >> paper.bib"),
    .values_size = sizeof(cite_values),
    .set_defaults = set_cite_defaults,
    .run = run_cite,
};
