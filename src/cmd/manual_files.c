/* Writes manual pages and completions into folders like those of /usr/share, for installation. */
#include "cmd/commands.h"
#include "cmd/manual.h"
#include "cmd/message.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/output_file.h"

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

/* A page that is collected in memory before it is written. */
typedef struct page {
    char path[PATH_MAX];
    char *text;
    size_t bytes;
    FILE *out; /* writes into text */
} page;

/* Begins the page of a file below directory. */
static FILE *begin(page *p, const char *directory, const char *file)
{
    *p = (page){.text = NULL};
    p->out =
        snprintf(p->path, PATH_MAX, "%s/%s", directory, file) < PATH_MAX ? open_memstream(&p->text, &p->bytes) : NULL;
    return p->out;
}

/* Makes the folders and writes the file. complete: all text reached the page. */
static int finish(page *p, bool complete)
{
    complete = p->out && fclose(p->out) == 0 && complete;
    int code = CMD_EXIT_OK;
    if (!complete)
        code = cmd_error(CMD_EXIT_INTERNAL, "%s: out of memory", p->path);
    else if (!make_folders(p->path))
        code = cmd_error(CMD_EXIT_OUTPUT, "%s: cannot be written: %s", p->path, strerror(errno));
    else if (gls_file_write(p->path, true, NULL, p->text, p->bytes) != GLS_OK)
        code = cmd_error(CMD_EXIT_OUTPUT, "%s", gls_last_error());
    free(p->text);
    return code;
}

static int write_pages(const char *directory, const cmd_command *const *commands)
{
    char file[128];
    page page;
    int code = CMD_EXIT_OK;
    for (const cmd_command *const *c = commands; *c && code == CMD_EXIT_OK; c++) {
        snprintf(file, sizeof file, "man/man1/glslines-%s.1", (*c)->name);
        FILE *out = begin(&page, directory, file);
        code = finish(&page, out && manual_write_command_page(out, *c));
    }
    for (const manual_topic *topic = manual_topics; topic->name && code == CMD_EXIT_OK; topic++) {
        snprintf(file, sizeof file, "man/man7/glslines-%s.7", topic->name);
        FILE *out = begin(&page, directory, file);
        code = finish(&page, out && manual_write_topic_page(out, topic));
    }
    return code;
}

int manual_write_files(const char *directory, const cmd_command *const *commands)
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
    int code = write_pages(directory, commands);
    for (size_t i = 0; i < sizeof files / sizeof *files && code == CMD_EXIT_OK; i++) {
        FILE *out = begin(&page, directory, files[i].file);
        code = finish(&page, out && files[i].write(out, commands));
    }
    return code;
}
