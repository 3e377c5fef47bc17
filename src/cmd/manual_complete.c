/* Completions for bash, zsh and fish, from the tables of options: choices, files and folders. */
#include "cmd/manual_complete.h"
#include "cmd/manual.h"
#include "options/help.h"
#include "util/text.h"

#include <string.h>

#include <glslines/tractogram.h>

/* The completions that a shell offers for the value of an option. */
typedef struct value_kind {
    char words[256]; /* words of the value, such as "a b c"; "": not known */
    /* what the shell offers in addition to the words: files, folders, or numbers of devices */
    bool file, folder, device;
} value_kind;

/* Command of the shell that prints the numbers of devices, and waits at most half a second. */
#define LIST_DEVICES \
    "timeout 0.5 glslines devices --json 2> /dev/null | sed -n 's/.*\"index\":[^0-9]*\\([0-9]*\\).*/\\1/p'"
/* Suffixes of tractograms. */
#define SUFFIX(value, suffix, ...) #suffix,
static const char *const suffixes[] = {GLS_TRACTOGRAM_FORMATS(SUFFIX)};
enum { N_SUFFIXES = sizeof suffixes / sizeof *suffixes };

/* Takes the values from the choices, or from a metavar such as "FILE" or "default|small|FILE", in which lower-case
 * words are values. A metavar in brackets, such as [FILE.json], means a file. */
static value_kind value_of(const gls_option *option)
{
    value_kind kind = {.words = "", .device = strcmp(option->name, "device") == 0};
    if (kind.device) strcpy(kind.words, "auto gpu cpu");
    const char *text = option->choices ? option->choices : option->metavar ? option->metavar : "";
    for (size_t n; *text; text += n + (text[n] == '|')) {
        size_t used = strlen(kind.words);
        bool word = true;
        n = strcspn(text, "|");
        for (size_t i = 0; i < n; i++)
            word = word &&
                   (gls_is_lower((unsigned char)text[i]) || gls_is_digit((unsigned char)text[i]) || text[i] == '_');
        if (word) snprintf(kind.words + used, sizeof kind.words - used, "%s%.*s", used ? " " : "", (int)n, text);
        kind.file = kind.file || (n == 4 && strncmp(text, "FILE", 4) == 0) ||
                    (n == 6 && strncmp(text, "PREFIX", 6) == 0) || *text == '[';
        kind.folder = kind.folder || (n == 3 && strncmp(text, "DIR", 3) == 0);
    }
    return kind;
}

/* Calls each() for the options of a command. */
static void each_option(FILE *out, const cmd_command *command, void (*each)(FILE *, const char *, const gls_option *))
{
    cmd_table table;
    cmd_options_list(command, &table);
    for (size_t i = 0; i < table.n; i++) each(out, command->name, &table.option[i]);
}

/* Writes the names of the commands, and with `topics` also the names of the topics. */
static void write_names(FILE *out, const cmd_command *const *commands, bool topics)
{
    const char *space = "";
    for (const cmd_command *const *c = commands; *c; c++, space = " ") fprintf(out, "%s%s", space, (*c)->name);
    for (const manual_topic *t = manual_topics; topics && t->name; t++, space = " ")
        fprintf(out, "%s%s", space, t->name);
}

/* Writes the first sentence of a help text, without the characters in skip. */
static void write_sentence(FILE *out, const char *text, const char *skip)
{
    for (; *text && !(text[0] == '.' && (text[1] == ' ' || !text[1])); text++)
        if (!strchr(skip, *text)) fputc(*text == '\n' ? ' ' : *text, out);
}

/* Writes the suffixes of tractograms with `between` between them. */
static void write_suffixes(FILE *out, const char *between)
{
    for (int i = 0; i < N_SUFFIXES; i++) fprintf(out, "%s%s", i > 0 ? between : "", suffixes[i]);
}

/* Whether an option may be given again, so that completion offers it once more. */
static bool is_repeatable(const gls_option *option)
{
    return option->kind == GLS_KIND_STRINGS || option->kind == GLS_KIND_COUNT;
}

/* Callback of each_option(): writes the name of a repeatable option, for bash's list of options to offer again. */
static void bash_again(FILE *out, const char *command, const gls_option *option)
{
    (void)command;
    if (is_repeatable(option)) fprintf(out, "--%s ", option->name);
}

/* Callback of each_option(): writes letter and name, for bash's list of options of a command. */
static void bash_name(FILE *out, const char *command, const gls_option *option)
{
    (void)command;
    if (option->letter) fprintf(out, "-%c ", option->letter);
    fprintf(out, "--%s ", option->name);
}

/* Writes the branch of bash's case statement that completes the value of an option. */
static void bash_value(FILE *out, const char *command, const gls_option *option)
{
    if (!gls_option_takes_value(option)) return;
    value_kind kind = value_of(option);
    fprintf(out, "        '%s --%s'", command, option->name);
    if (option->letter) fprintf(out, " | '%s -%c'", command, option->letter);
    fputs(")", out);
    if (*kind.words) fprintf(out, " words='%s'", kind.words);
    if (kind.device) fputs("; words+=\" $(_glslines_devices)\"", out);
    if (kind.file) fprintf(out, "%s files=-f", *kind.words ? ";" : "");
    if (kind.folder) fprintf(out, "%s files=-d", *kind.words ? ";" : "");
    fputs(" ;;\n", out);
}

bool manual_write_bash(FILE *out, const cmd_command *const *commands)
{
    fputs("# bash completion of glslines; made by 'glslines help --format bash'\n"
          "_glslines_devices() {\n    " LIST_DEVICES "\n}\n"
          "_glslines() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= again= files= word\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    write_names(out, commands, false);
    /* one case for the values of each option, by command and the word before the current word */
    fputs(" --help --version' -- \"$current\"))\n        return\n    fi\n"
          "    case \"${COMP_WORDS[1]} $before\" in\n",
          out);
    for (const cmd_command *const *c = commands; *c; c++) each_option(out, *c, bash_value);
    /* one case for option names and arguments of each command, by command and current word */
    fputs("        *)\n            case \"${COMP_WORDS[1]} $current\" in\n", out);
    for (const cmd_command *const *c = commands; *c; c++) {
        fprintf(out, "                '%s -'*) words='", (*c)->name);
        each_option(out, *c, bash_name);
        fputs("'; again='", out);
        each_option(out, *c, bash_again);
        fputs("' ;;\n", out);
    }
    for (const cmd_command *const *c = commands; *c; c++) {
        if (!(*c)->of_tractograms) continue;
        fprintf(out, "                '%s '*) files='", (*c)->name);
        write_suffixes(out, " ");
        fputs("' ;;\n", out);
    }
    fputs("                'help '*) words='", out);
    write_names(out, commands, true);
    fputs("' ;;\n                *) files=-f ;;\n            esac\n            ;;\n    esac\n"
          "    # what was given is offered once more only where it may be repeated\n"
          "    words=\" $words \"\n"
          "    for word in \"${COMP_WORDS[@]:2}\"; do\n"
          "        case $word in -?*) [[ $word = \"$current\" || \" $again \" = *\" $word \"* ]] || words=${words// "
          "$word / } ;; esac\n"
          "    done\n"
          "    [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    [ -z \"$files\" ] || {\n"
          "        compopt -o filenames 2> /dev/null\n"
          "        local IFS=$'\\n'\n"
          "        case $files in\n"
          "            -*) COMPREPLY+=($(compgen $files -- \"$current\")) ;;\n"
          "            *) COMPREPLY+=($(compgen -d -- \"$current\"; IFS=' '\n"
          "                    for word in $files; do compgen -f -X \"!*.$word\" -- \"$current\"; done | sort -u)) ;;\n"
          "        esac\n"
          "    }\n"
          "}\n"
          "complete -F _glslines glslines\n",
          out);
    return true;
}

/* Writes the line of an option for zsh's _arguments. */
static void zsh_option(FILE *out, const char *command, const gls_option *option)
{
    (void)command;
    value_kind kind = value_of(option);
    /* an option that may be given again is offered again; a letter and its name exclude each other */
    if (is_repeatable(option))
        fprintf(out, "                '*--%s[", option->name);
    else if (option->letter)
        fprintf(out, "                '(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter,
                option->name);
    else
        fprintf(out, "                '--%s[", option->name);
    write_sentence(out, option->help, "[]'\\");
    fputc(']', out);
    /* the words behind the option: files, devices of this machine, a fixed list, or folders */
    if (gls_option_takes_value(option)) {
        fprintf(out, ":%s:", option->name);
        if (kind.file && *kind.words)
            fprintf(out, "{_alternative \"words:word:(%s)\" \"files:file:_files\"}", kind.words);
        else if (kind.device)
            fprintf(out, "{_alternative \"words:word:(%s $(_glslines_devices))\"}", kind.words);
        else if (*kind.words)
            fprintf(out, "(%s)", kind.words);
        else if (kind.file)
            fputs("_files", out);
        else if (kind.folder)
            fputs("_files -/", out);
    }
    fputs("' \\\n", out);
}

bool manual_write_zsh(FILE *out, const cmd_command *const *commands)
{
    fputs("#compdef glslines\n# zsh completion of glslines; made by 'glslines help --format zsh'\n"
          "_glslines_devices() {\n    " LIST_DEVICES "\n}\n"
          "_glslines() {\n    local -a commands\n    commands=(\n",
          out);
    for (const cmd_command *const *c = commands; *c; c++) {
        fprintf(out, "        '%s:", (*c)->name);
        write_sentence(out, (*c)->summary, ":'\\");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n",
          out);
    for (const cmd_command *const *c = commands; *c; c++) {
        fprintf(out, "        %s)\n            _arguments \\\n", (*c)->name);
        each_option(out, *c, zsh_option);
        /* arguments without a name: topics, tractograms or any files */
        if (strcmp((*c)->name, "help") == 0) {
            fputs("                '*:topic:(", out);
            write_names(out, commands, true);
            fputs(")'\n", out);
        } else if ((*c)->of_tractograms) {
            fputs("                '*:tractogram:_files -g \"*.(", out);
            write_suffixes(out, "|");
            fputs(")\"'\n", out);
        } else {
            fputs("                '*:file:_files'\n", out);
        }
        fputs("            ;;\n", out);
    }
    fputs("    esac\n}\n_glslines \"$@\"\n", out);
    return true;
}

/* Writes the line that completes an option, its value and the first sentence of its help in fish. */
static void fish_option(FILE *out, const char *command, const gls_option *option)
{
    value_kind kind = value_of(option);
    fprintf(out, "complete -c glslines -n '__fish_seen_subcommand_from %s' -l %s", command, option->name);
    if (option->letter) fprintf(out, " -s %c", option->letter);
    if (gls_option_takes_value(option)) {
        bool files = kind.file || kind.folder;
        fputs(files ? " -r -F" : " -x", out);
        if (kind.device)
            fprintf(out, " -a '%s (__glslines_devices)'", kind.words);
        else if (*kind.words)
            fprintf(out, " -a '%s'", kind.words);
    }
    fputs(" -d '", out);
    write_sentence(out, option->help, "'\\");
    fputs("'\n", out);
}

bool manual_write_fish(FILE *out, const cmd_command *const *commands)
{
    fputs("# fish completion of glslines; made by 'glslines help --format fish'\n"
          "function __glslines_devices\n    " LIST_DEVICES "\nend\n"
          "complete -c glslines -n __fish_use_subcommand -l version -d 'Print the version and exit'\n"
          "complete -c glslines -n __fish_use_subcommand -s h -l help -d 'List commands and topics'\n",
          out);
    for (const cmd_command *const *c = commands; *c; c++) {
        fprintf(out, "complete -c glslines -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        write_sentence(out, (*c)->summary, "'\\");
        fputs("'\n", out);
    }
    for (const cmd_command *const *c = commands; *c; c++) each_option(out, *c, fish_option);
    /* __fish_complete_suffix sorts files of a suffix first; one line for each suffix */
    for (const cmd_command *const *c = commands; *c; c++)
        for (int i = 0; i < N_SUFFIXES && (*c)->of_tractograms; i++)
            fprintf(out,
                    "complete -c glslines -n '__fish_seen_subcommand_from %s' -k -xa '(__fish_complete_suffix .%s)'\n",
                    (*c)->name, suffixes[i]);
    fputs("complete -c glslines -n '__fish_seen_subcommand_from help' -f -a '", out);
    write_names(out, commands, true);
    fputs("'\n", out);
    return true;
}
