/* The browser that the window starts. All users of a machine can read the arguments of its programs, which must not
 * have the token: the browser gets the name of a file that this user alone can read, a page that leads to the address.
 */
#include "view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Largest number of words of a command. */
#define WORDS 32

extern char **environ;

/* Writes the name of the file. */
static void file_name(const gls_view_browser *browser, char path[PATH_MAX + 16])
{
    snprintf(path, PATH_MAX + 16, "%s/open.html", browser->folder);
}

/* Makes a folder that this user alone can open. */
static gls_status make_folder(gls_view_browser *browser)
{
    const char *const place[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++)
        if (place[i] && *place[i] == '/' &&
            (size_t)snprintf(browser->folder, PATH_MAX, "%s/glslines-view-XXXXXX", place[i]) < PATH_MAX &&
            mkdtemp(browser->folder))
            return GLS_OK;
    *browser->folder = 0;
    return gls_fail(GLS_ERR_OUTPUT, "cannot make a folder in /tmp: %s", strerror(errno));
}

/* Writes the page, and appends its address, file://..., to url. */
static gls_status write_page(gls_view_browser *browser, const gls_session *session, gls_text *url)
{
    char path[PATH_MAX + 16], address[GLS_ADDRESS], page[512];
    gls_status status = make_folder(browser);
    if (status) return status;
    gls_session_address(session, GLS_RIGHT_CHANGE, address);
    const int length =
        snprintf(page, sizeof page,
                 "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>glslines view</"
                 "title><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" "
                 "content=\"0; url=%s\"></head><body><a href=\"%s\">glslines view</a></body></html>\n",
                 address, address);
    file_name(browser, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool written = fd >= 0 && write(fd, page, (size_t)length) == length;
    const int reason = errno;
    if (fd >= 0) close(fd);
    if (!written) return gls_fail(GLS_ERR_OUTPUT, "%s: %s", path, strerror(reason));
    gls_text_puts(url, "file://");
    for (const char *at = path; *at; at++) {
        const bool plain = gls_is_alnum((unsigned char)*at) || strchr("/-._~", *at);
        gls_text_printf(url, plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
    return url->failed ? gls_no_memory() : GLS_OK;
}

/* Splits the first command of a list with colons into words, with 0 behind each. The page stands in place of %s, or is
 * the last word. */
static gls_status split(const char *commands, const char *page, gls_text *room, char *word[WORDS + 1])
{
    const size_t length = strcspn(commands, ":");
    bool has_page = false;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (commands[i] == ' ') {
            if (i > 0 && commands[i - 1] != ' ') gls_text_append(room, "", 1);
        } else if (commands[i] == '%' && i + 1 < length && commands[i + 1] == 's') {
            gls_text_puts(room, page);
            has_page = true;
            i++;
        } else {
            gls_text_append(room, commands + i, 1);
        }
    }
    gls_text_append(room, "", 1);
    if (!has_page) gls_text_append(room, page, strlen(page) + 1);
    if (room->failed) return gls_no_memory();
    for (size_t at = 0; at < room->length && n < WORDS; at += strlen(room->data + at) + 1)
        if (room->data[at]) word[n++] = room->data + at;
    word[n] = NULL;
    return GLS_OK;
}

/* Starts a program with no terminal, in a session of its own, so that Ctrl-C for the server does not end it. */
static gls_status start(gls_view_browser *browser, char *const *word)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    const int error = posix_spawnp(&browser->pid, *word, &actions, &attributes, word, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) return GLS_OK;
    browser->pid = 0;
    return gls_fail(GLS_ERR_UNSUPPORTED, "%s: %s", *word, strerror(error));
}

/* Whether a variable of the environment has a value. */
static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

void gls_view_browser_open(gls_view_browser *browser, const gls_session *session)
{
    const char *commands = getenv("BROWSER");
    char *word[WORDS + 1];
    gls_text url = {0}, room = {0};
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) {
        gls_log(GLS_LOG_WARNING, "--open: there is no desktop (DISPLAY and WAYLAND_DISPLAY are not set): open the "
                                 "address above");
        return;
    }
    if (!commands || !commands[strspn(commands, " ")] || commands[strspn(commands, " ")] == ':') commands = "xdg-open";
    gls_status status = write_page(browser, session, &url);
    if (!status) status = split(commands, url.data, &room, word);
    if (!status) status = start(browser, word);
    if (status) {
        gls_log(GLS_LOG_WARNING, "--open: no browser was started: %s: open the address above", gls_last_error());
        gls_view_browser_close(browser);
    }
    gls_text_finish(&url);
    gls_text_finish(&room);
}

void gls_view_browser_attend(gls_view_browser *browser)
{
    int state = 0;
    if (browser->pid == 0) return;
    const pid_t ended = waitpid(browser->pid, &state, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return;
    browser->pid = 0;
    /* the file is there until a page came */
    if (ended > 0 && state != 0 && *browser->folder)
        gls_log(GLS_LOG_WARNING, "--open: the browser has failed (%s %d): open the address above",
                WIFEXITED(state) ? "exit code" : "signal", WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
}

void gls_view_browser_close(gls_view_browser *browser)
{
    char path[PATH_MAX + 16];
    if (!*browser->folder) return;
    file_name(browser, path);
    unlink(path);
    rmdir(browser->folder);
    *browser->folder = 0;
}
