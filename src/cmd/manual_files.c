/* Writes manual pages and completion files into a folder that looks like /usr/share, for installation. */
#include "cmd/commands.h"
#include "cmd/exit.h"
#include "cmd/manual.h"
#include "cmd/message.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folders above the file. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

/* Opens a file under directory for writing and makes its folders; path holds its whole name. */
static FILE *open_file(char path[PATH_MAX], const char *directory, const char *file)
{
    int n = snprintf(path, PATH_MAX, "%s/%s", directory, file);
    if (n < 0 || n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return make_folders(path) ? fopen(path, "w") : NULL;
}

static int close_file(FILE *out, const char *path, bool complete)
{
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (!complete) return cmd_error(CMD_EXIT_INTERNAL, "%s: out of memory", path);
    return written ? CMD_EXIT_OK : cmd_error(CMD_EXIT_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

static int cannot_open(const char *path)
{
    return cmd_error(CMD_EXIT_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

static int write_pages(const char *directory)
{
    char path[PATH_MAX], file[128];
    int code = CMD_EXIT_OK;
    for (const cmd_command *const *c = cmd_commands; *c && code == CMD_EXIT_OK; c++) {
        snprintf(file, sizeof file, "man/man1/glslines-%s.1", (*c)->name);
        FILE *out = open_file(path, directory, file);
        if (!out) return cannot_open(path);
        code = close_file(out, path, manual_write_command_page(out, *c));
    }
    for (const manual_topic *topic = manual_topics; topic->name && code == CMD_EXIT_OK; topic++) {
        snprintf(file, sizeof file, "man/man7/glslines-%s.7", topic->name);
        FILE *out = open_file(path, directory, file);
        if (!out) return cannot_open(path);
        code = close_file(out, path, manual_write_topic_page(out, topic));
    }
    return code;
}

int manual_write_files(const char *directory)
{
    static const struct {
        const char *file;
        bool (*write)(FILE *out);
    } files[] = {
        {"man/man1/glslines.1", manual_write_overview_page},
        {"bash-completion/completions/glslines", manual_write_bash},
        {"zsh/site-functions/_glslines", manual_write_zsh},
        {"fish/vendor_completions.d/glslines.fish", manual_write_fish},
    };
    char path[PATH_MAX];
    int code = write_pages(directory);
    for (size_t i = 0; i < sizeof files / sizeof *files && code == CMD_EXIT_OK; i++) {
        FILE *out = open_file(path, directory, files[i].file);
        if (!out) return cannot_open(path);
        code = close_file(out, path, files[i].write(out));
    }
    return code;
}
