/* `glslines help`: shows help on commands and topics of the manual, and makes files of both for other programs. */
#include <cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/manual.h"
#include "cmd/manual_complete.h"
#include "cmd/manual_man.h"
#include "cmd/manual_text.h"
#include "cmd/message.h"
#include "options/help.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"

/* --- `glslines help --search`: finds the options and paragraphs that have all of the given words. */

/* Whether text has all words, whatever their case. */
static bool has_all(const char *text, const char *const *word, int n)
{
    for (int i = 0; i < n; i++)
        if (!gls_case_find(text, word[i])) return false;
    return true;
}

/* Prints each option of a command whose name and help, together with the command's name, have all n words. Returns how
 * many. width: columns of a line. */
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

/* Prints each paragraph of a topic that, together with the topic's name and the heading above it, has all n words.
 * Returns how many. */
static int search_topic(FILE *out, const manual_topic *topic, const char *const *word, int n, int width)
{
    /* each block of the topic ends at an empty line */
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
        /* skip code, tables and comments, and blocks without all the words */
        if (strncmp(at, "```", 3) == 0 || *at == '|' || *at == '<' || !has_all(text, word, n)) continue;
        for (char *c = text; *c; c++)
            if (*c == '\n') *c = ' ';
        /* if the heading itself has all the words, print it without its # */
        if (*at == '#') snprintf(text, sizeof text, "%s, %s", topic->name, heading);
        /* if the buffer was too small for the paragraph, end it with dots */
        if (size >= (int)sizeof text) memcpy(text + sizeof text - 4, "...", 4);
        fprintf(out, "  ");
        cmd_wrap(out, text, 2, 6, width);
        found++;
    }
    return found;
}

/* Prints the options of commands (NULL ends them) and paragraphs of topics with all n words. Returns their number. */
static int manual_search(FILE *out, const cmd_command *const *commands, const char *const *word, int n, int width)
{
    int found = 0;
    for (; *commands; commands++) found += search_options(out, *commands, word, n, width);
    for (const manual_topic *topic = manual_topics; topic->name; topic++)
        found += search_topic(out, topic, word, n, width);
    return found;
}

/* --- Writes manual pages and completions for installation, into folders as in /usr/share. */

/* Makes the folders above the file. */
static bool make_folders(char *path)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    const bool made = gls_folders_make(path, NULL) == GLS_OK;
    *slash = '/';
    return made;
}

/* A page that is collected in memory before it is written. */
typedef struct page {
    /* file of the page */
    char path[PATH_MAX];
    /* text and its size, kept by open_memstream() */
    char *text;
    size_t bytes;
    FILE *out; /* stream that writes into `text` */
} page;

/* Begins the page of a file below directory. */
static FILE *begin(page *p, const char *directory, const char *file)
{
    *p = (page){.text = NULL};
    snprintf(p->path, PATH_MAX, "%s/%s", directory, file);
    return p->out = open_memstream(&p->text, &p->bytes);
}

/* Where the pages go: a folder, below which they get their names together. */
typedef struct place {
    const char *directory;
    bool force; /* existing files are replaced */
    gls_output_group group;
} place;

/* Makes the folders and writes the file. complete: all text reached the page. */
static int finish(page *p, place *where, bool complete)
{
    complete = p->out && fclose(p->out) == 0 && complete;
    int code = CMD_EXIT_OK;
    if (!complete)
        code = cmd_error(CMD_EXIT_INTERNAL, "%s: out of memory", p->path);
    else if (!make_folders(p->path) ||
             gls_file_write(p->path, where->force, &where->group, p->text, p->bytes) != GLS_OK)
        code = cmd_error(CMD_EXIT_OUTPUT, "%s", gls_last_error());
    free(p->text);
    return code;
}

/* Writes the manual pages of all commands (section 1) and topics (section 7). Returns an exit code. */
static int write_pages(place *where, const cmd_command *const *commands)
{
    char file[128];
    page page;
    int code = CMD_EXIT_OK;
    for (const cmd_command *const *c = commands; *c && code == CMD_EXIT_OK; c++) {
        snprintf(file, sizeof file, "man/man1/glslines-%s.1", (*c)->name);
        FILE *out = begin(&page, where->directory, file);
        code = finish(&page, where, out && manual_write_command_page(out, *c));
    }
    for (const manual_topic *topic = manual_topics; topic->name && code == CMD_EXIT_OK; topic++) {
        snprintf(file, sizeof file, "man/man7/glslines-%s.7", topic->name);
        FILE *out = begin(&page, where->directory, file);
        code = finish(&page, where, out && manual_write_topic_page(out, topic));
    }
    return code;
}

/* Writes all manual pages and completions, in folders as in /usr/share, or none. Returns an exit code. */
static int manual_write_files(place *where, const cmd_command *const *commands)
{
    static const struct {
        const char *file;
        bool (*write)(FILE *out, const cmd_command *const *commands);
    } files[] = {
        {"man/man1/glslines.1", manual_write_overview_page},
        {"bash-completion/completions/glslines", manual_write_bash},
        {"zsh/site-functions/_glslines", manual_write_zsh},
        {"fish/vendor_completions.d/glslines.fish", manual_write_fish},
    };
    page page;
    if (gls_folders_make(where->directory, NULL)) return cmd_error(CMD_EXIT_OUTPUT, "%s", gls_last_error());
    int code = write_pages(where, commands);
    for (size_t i = 0; i < sizeof files / sizeof *files && code == CMD_EXIT_OK; i++) {
        FILE *out = begin(&page, where->directory, files[i].file);
        code = finish(&page, where, out && files[i].write(out, commands));
    }
    const gls_status ended = gls_output_group_end(&where->group, code == CMD_EXIT_OK ? GLS_OK : GLS_ERR_OUTPUT);
    return code == CMD_EXIT_OK ? cmd_finish(ended) : code;
}

const cmd_command *const cmd_commands[] = {
#define ROW(name) &command_##name,
    CMD_COMMANDS(ROW)
#undef ROW
        NULL,
};

/* --- Commands, options and topics as JSON, for programs that build command lines, and for tests. */

/* Adds a text, or null in place of an empty one. */
static void add_text(cJSON *object, const char *key, const char *text)
{
    gls_json_text(object, key, text && *text ? text : NULL);
}

/* Adds pairs of texts, such as positionals and examples. */
static void add_pairs(cJSON *object, const char *key, const char *first, const char *second, const char *const *pair)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (; pair && *pair; pair += 2) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, first, pair[0]);
        cJSON_AddStringToObject(item, second, pair[1]);
        cJSON_AddItemToArray(array, item);
    }
}

/* Adds the words of an option's choices, "a|b|c", as an array of strings. */
static void add_choices(cJSON *object, const gls_option *option)
{
    char word[64];
    if (option->kind != GLS_KIND_CHOICE) return;
    cJSON *array = cJSON_AddArrayToObject(object, "choices");
    for (int i = 0; *gls_choice_word(option->choices, i, word, sizeof word); i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(word));
}

/* Adds the kinds of files that an option names for output. */
static void add_writes(cJSON *object, const gls_option *option)
{
    static const struct {
        int kind;
        const char *name;
    } kinds[] = {
        {GLS_WRITES_TEXT, "text"},       {GLS_WRITES_IMAGE, "image"},     {GLS_WRITES_TRACTOGRAM, "tractogram"},
        {GLS_WRITES_SCALARS, "scalars"}, {GLS_WRITES_PICTURE, "picture"}, {GLS_WRITES_PAGE, "page"},
        {GLS_WRITES_SEVERAL, "several"}};
    cJSON *array = cJSON_AddArrayToObject(object, "writes");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (option->writes & kinds[k].kind) cJSON_AddItemToArray(array, cJSON_CreateString(kinds[k].name));
}

/* Adds an option with its type, range, default and outputs. */
static void add_option(cJSON *options, const gls_option *option, const void *values)
{
    static const char *const types[] = {
        [GLS_KIND_FLAG] = "flag",      [GLS_KIND_COUNT] = "count",     [GLS_KIND_INT] = "integer",
        [GLS_KIND_UINT64] = "integer", [GLS_KIND_SEED] = "seed",       [GLS_KIND_DOUBLE] = "number",
        [GLS_KIND_LENGTH] = "length",  [GLS_KIND_NUMBERS] = "numbers", [GLS_KIND_STRINGS] = "strings",
        [GLS_KIND_STRING] = "string",  [GLS_KIND_CHOICE] = "choice"};
    char letter[2] = {option->letter, '\0'}, range[128], text[512];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", option->name);
    add_text(item, "letter", letter);
    cJSON_AddStringToObject(item, "group", option->group);
    cJSON_AddStringToObject(item, "type", types[option->kind]);
    add_text(item, "metavar", option->metavar);
    add_text(item, "unit", option->unit);
    add_choices(item, option);
    gls_option_range_text(option, range, sizeof range);
    add_text(item, "range", range);
    cmd_default_text(option, values, text, sizeof text);
    add_text(item, "default", text);
    add_writes(item, option);
    add_text(item, "since", option->since);
    cJSON_AddStringToObject(item, "help", option->help);
    cJSON_AddItemToArray(options, item);
}

/* A command with its arguments, options, defaults and examples. The caller owns the object. */
static cJSON *command_json(const cmd_command *command)
{
    cmd_values values;
    cmd_table table;
    cJSON *object = cJSON_CreateObject();
    cmd_defaults_list(command, &table, &values);
    GLS_JSON_MEMBERS(object, command, name, synopsis, summary, description);
    add_text(object, "since", command->since);
    add_pairs(object, "arguments", "name", "help", command->positionals);
    cJSON *options = cJSON_AddArrayToObject(object, "options");
    for (size_t i = 0; i < table.n; i++) add_option(options, &table.option[i], values.bytes);
    add_pairs(object, "examples", "what", "command", command->examples);
    return object;
}

/* A topic by name and title; with_text: also its Markdown. The caller owns the object. */
static cJSON *topic_json(const manual_topic *topic, bool with_text)
{
    char title[256];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", topic->name);
    cJSON_AddStringToObject(object, "title", manual_topic_title(topic, title, sizeof title));
    if (with_text) cJSON_AddStringToObject(object, "text", topic->text);
    return object;
}

/* The program: version, all commands with their options, names of topics, exit codes. The caller owns the object. */
static cJSON *overview_json(void)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "program", "glslines");
    cJSON_AddStringToObject(object, "version", gls_version());
    cJSON *list = cJSON_AddArrayToObject(object, "commands");
    for (const cmd_command *const *c = cmd_commands; *c; c++) cJSON_AddItemToArray(list, command_json(*c));
    cJSON *topics = cJSON_AddArrayToObject(object, "topics");
    for (const manual_topic *t = manual_topics; t->name; t++) cJSON_AddItemToArray(topics, topic_json(t, false));
    cJSON *codes = cJSON_AddArrayToObject(object, "exit_codes");
    for (size_t i = 0; cmd_exit_text(i); i++) {
        cJSON *code = cJSON_CreateObject();
        cJSON_AddNumberToObject(code, "code", cmd_exit_code(i));
        cJSON_AddStringToObject(code, "meaning", cmd_exit_text(i));
        cJSON_AddItemToArray(codes, code);
    }
    return object;
}

/* Writes a command or a topic as JSON. If both are NULL, writes all commands, topics and exit codes. */
static bool write_json(FILE *out, const cmd_command *command, const manual_topic *topic)
{
    cJSON *object = command ? command_json(command) : topic ? topic_json(topic, true) : overview_json();
    char *text = gls_json_print(object);
    if (text) fprintf(out, "%s\n", text);
    cJSON_Delete(object);
    free(text);
    return text != NULL;
}

/* --- The command. */

/* Values of --format. From FORMAT_BASH on they are completion files; each holds all commands. */
enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_MAN, FORMAT_JSON, FORMAT_BASH, FORMAT_ZSH, FORMAT_FISH };

typedef struct help_values {
    cmd_common common;
    /* a format of the help */
    int format;
    /* for --directory: where manual pages and completions are installed; NULL: print */
    const char *directory;
    bool force; /* existing files of --directory are replaced */
    /* first word of --search, whose further words are positional arguments; NULL: no search */
    const char *search;
} help_values;
#define OPTION_OWNER help_values

static const gls_option option_table[] = {
    GLS_CHOICE("Output", format, "format", "text|markdown|man|json|bash|zsh|fish",
               "Form of the help. text: for the terminal. markdown: the option table of a command, or the source of a "
               "topic. man: a manual page. json: for programs. bash, zsh, fish: the completion file of that shell."),
    GLS_TEXT("Output", directory, "directory", "DIR", NULL,
             "Write all manual pages and completion files under DIR, in the folders in which /usr/share has them, "
             "and print nothing.",
             .writes = GLS_WRITES_SEVERAL),
    GLS_FLAG("Output", force, "force", "Overwrite existing files below DIR.", .since = "0.2.0"),
    GLS_TEXT("Output", search, "search", "WORDS", NULL,
             "Print each option, and each paragraph of the manual, that has all of these words.", .since = "0.2.0"),
    {.name = NULL},
};

void cmd_print_overview(FILE *out)
{
    char title[256];
    int width = cmd_terminal_width(out);
    fprintf(out, "glslines %s: diffusion MRI tractography on any GPU with OpenGL compute shaders\n\n", gls_version());
    fputs("Usage: glslines COMMAND [arguments] [options]\n"
          "       glslines help [COMMAND|TOPIC]\n"
          "       glslines --version\n\nCommands:\n",
          out);
    /* names in a column of 18 characters, summaries behind them */
    for (const cmd_command *const *c = cmd_commands; *c; c++) {
        fprintf(out, "  %-16s", (*c)->name);
        cmd_wrap(out, (*c)->summary, 18, 18, width);
    }
    fputs("\nTopics of the manual:\n", out);
    for (const manual_topic *topic = manual_topics; topic->name; topic++) {
        fprintf(out, "  %-20s", topic->name);
        cmd_wrap(out, manual_topic_title(topic, title, sizeof title), 22, 22, width);
    }
    fputs("\nExit codes:\n", out);
    for (size_t i = 0; cmd_exit_text(i); i++) {
        fprintf(out, "  %-4d ", cmd_exit_code(i));
        cmd_wrap(out, cmd_exit_text(i), 7, 7, width);
    }
    fputs("\nExamples:\n"
          "  Track your data:\n    glslines track dwi.nii.gz dwi.bval dwi.bvec mask.nii.gz wm.nii.gz -o tracks.trx\n"
          "  See what can compute here:\n    glslines devices\n"
          "  Read how to begin:\n    glslines help getting-started\n",
          out);
}

/* Further words by which a topic is found. */
static const struct {
    const char *word, *topic;
} also_called[] = {
    {"quickstart", "getting-started"}, {"data", "inputs"},
    {"orientation", "inputs"},         {"shells", "models"},
    {"ptt", "parallel-transport"},     {"viewing", "tractograms"},
    {"cluster", "clusters"},           {"containers", "installation"},
    {"migrate", "coming-from"},        {"exit-codes", "troubleshooting"},
};

/* Finds a topic by its name or by a word of also_called[]. NULL: none. */
static const manual_topic *find_topic(const char *name)
{
    const manual_topic *topic = manual_topic_find(name, strlen(name));
    for (size_t i = 0; !topic && i < sizeof also_called / sizeof *also_called; i++)
        if (strcmp(also_called[i].word, name) == 0)
            topic = manual_topic_find(also_called[i].topic, strlen(also_called[i].topic));
    return topic;
}

/* Fails with a message that suggests the command or topic of the most similar name. */
static int unknown_name(const char *name)
{
    const char *words[CMD_MAX_OPTIONS];
    size_t n = 0;
    for (const cmd_command *const *c = cmd_commands; *c; c++) words[n++] = (*c)->name;
    for (const manual_topic *topic = manual_topics; topic->name && n < CMD_MAX_OPTIONS; topic++)
        words[n++] = topic->name;
    const char *near = gls_nearest_word(name, words, n);
    if (near) return cmd_error(CMD_EXIT_USAGE, "no help on '%s'; did you mean '%s'?", name, near);
    return cmd_error(CMD_EXIT_USAGE, "no help on '%s'; 'glslines help' lists commands and topics", name);
}

/* Prints the help of a command as text, Markdown or manual page. Returns false if memory runs out. */
static bool write_command(const cmd_command *command, int format)
{
    if (format == FORMAT_MAN) return manual_write_command_page(stdout, command);
    if (format == FORMAT_MARKDOWN)
        cmd_help_markdown(stdout, command);
    else
        cmd_help(stdout, command, cmd_terminal_width(stdout));
    return true;
}

/* Prints a topic; its Markdown is the source itself. Headings are bold on a terminal, unless NO_COLOR is set. */
static bool write_topic(const manual_topic *topic, int format)
{
    if (format == FORMAT_MAN) return manual_write_topic_page(stdout, topic);
    if (format == FORMAT_TEXT)
        return manual_write_text(stdout, topic, cmd_terminal_width(stdout),
                                 isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
    fputs(topic->text, stdout);
    return true;
}

/* Prints what concerns all commands: the list of commands and topics, the page glslines(1), or a completion file. */
static bool write_overview(int format)
{
    switch (format) {
    case FORMAT_MAN: return manual_write_overview_page(stdout, cmd_commands);
    case FORMAT_BASH: return manual_write_bash(stdout, cmd_commands);
    case FORMAT_ZSH: return manual_write_zsh(stdout, cmd_commands);
    case FORMAT_FISH: return manual_write_fish(stdout, cmd_commands);
    }
    cmd_print_overview(stdout);
    return true;
}

/* Looks for the words of --search, of which `first` is the first and the positional arguments are the rest. */
static int search(const char *first, const cmd_arguments *arguments)
{
    const char *word[CMD_MAX_POSITIONALS + 1] = {first};
    int n = 1;
    for (int i = 0; i < arguments->n_positionals; i++) word[n++] = arguments->positional[i];
    if (manual_search(stdout, cmd_commands, word, n, cmd_terminal_width(stdout)) > 0) return CMD_EXIT_OK;
    return cmd_error(CMD_EXIT_USAGE, "help --search: no help text has '%s'%s", first,
                     n > 1 ? " and the other words together" : "");
}

/* Entry of the command. A command precedes a topic of the same name. */
static int run_help(void *values, const cmd_arguments *arguments)
{
    const help_values *options = values;
    const char *name = arguments->n_positionals ? arguments->positional[0] : NULL;
    const cmd_command *command = NULL;
    bool complete;
    if (options->search) return search(options->search, arguments);
    /* refuse options and names that have no meaning together */
    if (arguments->n_positionals > 1)
        return cmd_error(CMD_EXIT_USAGE, "help: takes the name of one command or topic, got %d names",
                         arguments->n_positionals);
    if (options->directory && (name || options->format != FORMAT_TEXT))
        return cmd_error(CMD_EXIT_USAGE, "help --directory: takes neither a name nor --format");
    if (options->force && !options->directory)
        return cmd_error(CMD_EXIT_USAGE, "help --force: has no effect without --directory: leave it out");
    place where = {.directory = options->directory, .force = options->force};
    if (options->directory) return manual_write_files(&where, cmd_commands);
    if (!name && options->format == FORMAT_MARKDOWN)
        return cmd_error(CMD_EXIT_USAGE, "help --format markdown: needs the name of a command or topic");
    if (name && options->format >= FORMAT_BASH)
        return cmd_error(CMD_EXIT_USAGE, "help --format: a completion file is for all commands, not for '%s'", name);

    /* find the command and the topic of this name; a name that is neither fails below */
    const manual_topic *topic = name ? find_topic(name) : NULL;
    for (const cmd_command *const *c = cmd_commands; name && *c; c++)
        if (strcmp((*c)->name, name) == 0) command = *c;
    if (options->format == FORMAT_JSON && (command || topic || !name))
        complete = write_json(stdout, command, topic);
    else if (command)
        complete = write_command(command, options->format);
    else if (topic)
        complete = write_topic(topic, options->format);
    else if (name)
        return unknown_name(name);
    else
        complete = write_overview(options->format);
    return complete ? CMD_EXIT_OK : cmd_error(CMD_EXIT_INTERNAL, "help: out of memory");
}

static void set_help_defaults(void *values)
{
    *(help_values *)values = (help_values){.format = FORMAT_TEXT};
}

const cmd_command command_help = {
    CMD_ENTRY(help),
    .synopsis = "[COMMAND|TOPIC] [options]",
    .summary = "Help on a command, or a topic of the manual",
    .description = "Prints the help of a command, or a topic of the manual, which is built into the program. The same "
                   "text can be written as manual pages, and the options as completion files for shells.",
    .positionals = CMD_TEXTS("NAME", "A command or a topic of the manual; without NAME, a list of both."),
    .max_positionals = 16,
    .rows = {{.table = option_table}},
    .examples =
        CMD_TEXTS("How to choose a direction getter:", "glslines help getters",
                  "Where the manual describes the sign of b-vectors:", "glslines help --search b-vectors negated",
                  "The manual page of a command:", "glslines help --format man track | man -l -",
                  "Every option, its range and default, for programs:", "glslines help --format json track",
                  "Completion in this bash:", "source <(glslines help --format bash)"),
};
