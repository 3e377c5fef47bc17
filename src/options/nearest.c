/* Suggestions for mistyped words, and warnings of environment variables that do not exist. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/status.h"

/* Number of edits (insert, delete, replace, swap of neighbours) that turn a into b. Both must be shorter than 64. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int row[3][65]; /* rows i, i - 1 and i - 2 in rotation */
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *cmd_nearest(const char *text, const char *const *words, size_t n)
{
    size_t length = strlen(text);
    if (length < 2 || length > 63) return NULL;
    /* a third of the letters may differ, at least one */
    int best = (int)(length / 3 < 1 ? 1 : length / 3) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) > 63) continue;
        /* The beginning of a word counts as one edit. */
        int d = length >= 3 && strncmp(text, words[i], length) == 0 ? 1 : edit_distance(text, words[i]);
        if (d < best) {
            best = d;
            found = words[i];
        }
    }
    return found;
}

#define PREFIX "GLSLINES_"

/* Known variables without their prefix. src/doc/environment.md describes them. */
static const char *const known[] = {
#ifdef GLS_TEST_VARIABLES
    "CHECKED",    "DUMP_SHADERS", "FORCE_LIMITS", "INJECT", "IN_FLIGHT", "MAP", "ODF_CELLS", "RECEIPTS", "SHADER_DIR",
#endif
    "DESKTOP_ID", "LIBRARY",      "OSC",          "PROBE",  "SELF_TEST",
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
