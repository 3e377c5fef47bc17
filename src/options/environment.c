#include "options/environment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/options.h"
#include "util/log.h"

#define PREFIX "GLSLINES_"

/* Names of the known variables without the prefix; src/doc/environment.md says what each does. */
static const char *const known[] = {"CHECKED",   "DESKTOP_ID", "DUMP_SHADERS", "FORCE_LIMITS", "INJECT",
                                    "IN_FLIGHT", "LIBRARY",    "MAP",          "ODF_CELLS",    "OSC",
                                    "PROBE",     "RECEIPTS",   "SELF_TEST",    "SHADER_DIR"};
/* Names that the module files of clusters set for every program. */
static const char *const of_modules[] = {"DIR", "HOME", "ROOT", "VERSION"};

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

void cmd_environment_check(void)
{
    const size_t n_known = sizeof known / sizeof *known, n_of_modules = sizeof of_modules / sizeof *of_modules;
    char name[64], hint[96] = "";
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0) continue;
        const char *own = *entry + strlen(PREFIX);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(own, "="), own);
        if (is_one_of(name, known, n_known) || is_one_of(name, of_modules, n_of_modules)) continue;
        const char *near = cmd_nearest(name, known, n_known);
        if (near) snprintf(hint, sizeof hint, "; did you mean " PREFIX "%s?", near);
        gls_log(GLS_LOG_WARNING,
                "the variable " PREFIX "%s of the environment is unknown and has no effect%s ('glslines help "
                "environment')",
                name, near ? hint : "");
    }
}
