/* `glslines help --search`: where the help and the manual have all of some words. */
#include <stdio.h>
#include <string.h>

#include "cmd/manual.h"
#include "options/options.h"
#include "util/text.h"

/* Whether text has all words, whatever their case. */
static bool has_all(const char *text, const char *const *word, int n)
{
    for (int i = 0; i < n; i++)
        if (!gls_case_find(text, word[i])) return false;
    return true;
}

static int search_options(FILE *out, const cmd_command *command, const char *const *word, int n, int width)
{
    static cmd_table table;
    char text[4096];
    int found = 0;
    cmd_options_list(command, &table);
    for (size_t i = 0; i < table.n_own; i++) {
        const gls_option *option = &table.option[i];
        snprintf(text, sizeof text, "%s --%s: %s", command->name, option->name, option->help);
        if (!has_all(text, word, n)) continue;
        fprintf(out, "  ");
        cmd_wrap(out, text, 2, 6, width);
        found++;
    }
    return found;
}

/* Prints the paragraphs of a topic that have all words, each behind the heading above it. */
static int search_topic(FILE *out, const manual_topic *topic, const char *const *word, int n, int width)
{
    char heading[160] = "", text[4096];
    int found = 0;
    for (const char *at = topic->text, *end; *at; at = end + strspn(end, "\n")) {
        end = strstr(at, "\n\n");
        if (!end) end = at + strlen(at);
        if (*at == '#') {
            const char *title = at + strspn(at, "# ");
            snprintf(heading, sizeof heading, "%.*s", (int)strcspn(title, "\n"), title);
        }
        int size = snprintf(text, sizeof text, "%s, %s: %.*s", topic->name, heading, (int)(end - at), at);
        if (strncmp(at, "```", 3) == 0 || *at == '|' || *at == '<' || !has_all(text, word, n)) continue;
        for (char *c = text; *c; c++)
            if (*c == '\n') *c = ' ';
        if (*at == '#') snprintf(text, sizeof text, "%s, %s", topic->name, heading);
        if (size >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
        fprintf(out, "  ");
        cmd_wrap(out, text, 2, 6, width);
        found++;
    }
    return found;
}

int manual_search(FILE *out, const cmd_command *const *commands, const char *const *word, int n, int width)
{
    int found = 0;
    for (; *commands; commands++) found += search_options(out, *commands, word, n, width);
    for (const manual_topic *topic = manual_topics; topic->name; topic++)
        found += search_topic(out, topic, word, n, width);
    return found;
}
