/* Other programs: running them, and reading what they leave. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cmd/bench_peer.h"

extern char **environ;

int bench_process_run(const char *directory, const char *const *argv)
{
    char out[4096], err[4096];
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int state = 0;
    snprintf(out, sizeof out, "%s/stdout.txt", directory);
    snprintf(err, sizeof err, "%s/stderr.txt", directory);
    if (posix_spawn_file_actions_init(&actions) != 0) return 127;
    bool failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
                  posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0644) != 0 ||
                  posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0644) != 0 ||
                  posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) != 0;
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return 127;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

void bench_process_last_line(const char *directory, const char *name, char *line, size_t size)
{
    char path[4096], next[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    *line = '\0';
    while (file && fgets(next, sizeof next, file)) {
        next[strcspn(next, "\r\n")] = '\0';
        if (next[strspn(next, " \t")] != '\0') snprintf(line, size, "%s", next);
    }
    if (file) fclose(file);
}

bool bench_tck_count(const char *path, uint64_t *streamlines, uint64_t *points)
{
    char line[1024];
    struct stat info;
    uint64_t offset = 0;
    bool counted = false;
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (fgets(line, sizeof line, file) && strncmp(line, "END", 3) != 0) {
        if (sscanf(line, "file: . %" SCNu64, &offset) == 1) continue;
        if (sscanf(line, "count: %" SCNu64, streamlines) == 1) counted = true;
    }
    bool known = fstat(fileno(file), &info) == 0;
    fclose(file);
    if (!counted || !known || offset == 0 || (uint64_t)info.st_size < offset) return false;
    /* a row of three for each point, one behind each streamline and one at the end */
    uint64_t rows = ((uint64_t)info.st_size - offset) / 12;
    if (rows < *streamlines + 1) return false;
    *points = rows - *streamlines - 1;
    return true;
}
