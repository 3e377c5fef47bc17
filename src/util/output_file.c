/* Writes files that appear under their names only when they are complete, several together or none, and never in place
 * of something that is not a regular file. */
#include "util/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* Linux moves at most 0x7ffff000 bytes in one call; smaller pieces keep interruptions short. */
#define MAX_PIECE ((size_t)1 << 30)
/* Number of bytes after which the kernel is asked to write: enough for a disk to write efficiently, and few compared
 * with a large tractogram. */
#define SEND_BYTES ((uint64_t)64 << 20)

gls_status gls_file_write(const char *path, bool overwrite, gls_output_group *group, const void *data, size_t bytes)
{
    gls_output output;
    gls_status status = gls_output_create(path, overwrite, &output);
    output.group = group;
    if (!status) status = gls_output_write(&output, data, bytes);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

gls_status gls_text_write(gls_text *text, const char *path, bool overwrite, gls_output_group *group, gls_status status)
{
    if (!status && text->failed) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    if (!status) status = gls_file_write(path, overwrite, group, text->data, text->length);
    gls_text_finish(text);
    return status;
}

/* Length of the folder part of a path with its slash: "dir/name" -> 4, "name" -> 0. */
static int directory_length(const char *path)
{
    return (int)(gls_file_name(path) - path);
}

/* A number for this host, of 16 bits. */
static unsigned host_number(void)
{
    struct utsname system;
    return uname(&system) == 0 ? (unsigned)(gls_hash(system.nodename, strlen(system.nodename)) & 0xffff) : 0;
}

/* Returns a name beside path that is hardly ever in use: .NAME.PROCESS-NUMBER.part, where the number has four digits
 * for the host and ten for the time. NULL: out of memory. */
static char *temporary_name(const char *path, unsigned attempt)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int dir = directory_length(path);
    char *name = NULL;
    uint64_t unique = (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)now.tv_sec + attempt;
    /* the final name is shortened so that the temporary name never exceeds NAME_MAX */
    if (gls_asprintf(&name, "%.*s.%.100s.%d-%04x%010llx.part", dir, path, path + dir, (int)getpid(), host_number(),
                     (unsigned long long)(unique & 0xffffffffffu)) < 0)
        return NULL;
    return name;
}

/* Whether a name in the folder of path is one that temporary_name() made for path in a process of this host that has
 * ended: such a process was killed while it gave files their names. */
static bool is_left_over(const char *name, const char *path)
{
    char start[128];
    int pid, n = 0;
    unsigned host;
    unsigned long long unique;
    snprintf(start, sizeof start, ".%.100s.", gls_file_name(path));
    const size_t used = strlen(start);
    return strncmp(name, start, used) == 0 &&
           sscanf(name + used, "%9d-%4x%10llx.part%n", &pid, &host, &unique, &n) == 3 && n > 0 && !name[used + n] &&
           host == host_number() && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

/* Removes a folder and the files in it. name: in the folder of the descriptor at. */
static void remove_folder(int at, const char *name)
{
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *names = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; names && (entry = readdir(names));) unlinkat(fd, entry->d_name, 0);
    if (names)
        closedir(names);
    else if (fd >= 0)
        close(fd);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* Removes what killed processes left of this file in its folder. */
static void remove_left_overs(const char *path)
{
    const int dir = directory_length(path);
    char *folder = dir ? strndup(path, (size_t)dir) : strdup(".");
    DIR *names = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; names && (entry = readdir(names));)
        if (entry->d_name[0] == '.' && is_left_over(entry->d_name, path) &&
            unlinkat(dirfd(names), entry->d_name, 0) != 0 && errno == EISDIR)
            remove_folder(dirfd(names), entry->d_name);
    if (names) closedir(names);
    free(folder);
}

char *gls_output_folder_make(const char *path)
{
    remove_left_overs(path);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char *name = temporary_name(path, attempt);
        if (!name) errno = ENOMEM;
        if (!name || mkdir(name, 0700) == 0) return name;
        const int reason = errno;
        free(name);
        errno = reason;
        if (reason != EEXIST) break;
    }
    return NULL;
}

void gls_output_folder_remove(const char *folder)
{
    remove_folder(AT_FDCWD, folder);
}

/* Opens a nameless file in the folder of path; -1 if the file system has no such files. The file gets its name later
 * through /proc, so /proc must exist, too. */
static int open_nameless(const char *path)
{
    int dir = directory_length(path);
    char *folder = dir ? strndup(path, (size_t)dir) : strdup(".");
    int fd = folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

/* Opens a file under a temporary name. Returns -1 and sets errno on failure. */
static int open_named(const char *path, char **name)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        *name = temporary_name(path, attempt);
        if (!*name) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        int reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST) return -1;
    }
    return -1;
}

/* Whether a path stands for a descriptor, like /dev/stdout. Other programs may be writing to the file of the
 * descriptor, and replacing that file would take its name away. */
static bool is_descriptor(const char *path)
{
    char at[PATH_MAX], to[PATH_MAX], next[PATH_MAX];
    struct stat link;
    struct statfs system;
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at) return false;
    /* follows the links one by one; 40 is the limit of the kernel */
    for (int depth = 0; depth < 40 && lstat(at, &link) == 0 && S_ISLNK(link.st_mode); depth++) {
        int dir = directory_length(at);
        char *folder = dir ? strndup(at, (size_t)dir) : strdup(".");
        const bool of_processes = folder && statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
        free(folder);
        if (of_processes) return true;
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n <= 0) return false;
        to[n] = '\0';
        if (snprintf(next, sizeof next, "%.*s%s", *to == '/' ? 0 : dir, at, to) >= (int)sizeof next) return false;
        memcpy(at, next, sizeof at);
    }
    return false;
}

/* Checks that the final name may be written. *replaced: a file has this name; *mode: permissions for the new file. */
static gls_status check_target(const char *path, bool overwrite, bool *replaced, mode_t *mode)
{
    struct stat st;
    *replaced = false;
    if (stat(path, &st) != 0) {
        if (lstat(path, &st) != 0) return GLS_OK;
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: is a symbolic link that leads nowhere", path);
    }
    if (S_ISDIR(st.st_mode)) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: is a directory", path);
    if (!S_ISREG(st.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: exists and is not a regular file", path);
    if (is_descriptor(path))
        return gls_fail(
            GLS_ERR_OUTPUT,
            "%s: cannot create: the path stands for an open file, such as standard output; give the name of a file",
            path);
    if (!overwrite) return gls_fail(GLS_ERR_OUTPUT, "%s: exists already and is not overwritten", path);
    if (access(path, W_OK) != 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot overwrite: %s", path, strerror(errno));
    *replaced = true;
    *mode = st.st_mode & 07777;
    return GLS_OK;
}

gls_status gls_output_create(const char *path, bool overwrite, gls_output *output)
{
    *output = GLS_OUTPUT_NONE;
    bool replaced;
    mode_t mode = 0;
    gls_status status = check_target(path, overwrite, &replaced, &mode);
    if (status) return status;
    output->overwrite = overwrite;
    /* if path is a symbolic link to a file, the file is replaced, not the link */
    output->path = replaced ? realpath(path, NULL) : strdup(path);
    if (output->path) output->given = strdup(path);
    if (!output->given) {
        int reason = errno;
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", path, strerror(reason));
    }
    output->fd = open_nameless(output->path);
    if (output->fd < 0) output->fd = open_named(output->path, &output->temporary);
    if (output->fd < 0) {
        int reason = errno;
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", path, strerror(reason));
    }
    if (replaced && fchmod(output->fd, mode) != 0) {
        int reason = errno;
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot keep the permissions: %s", path, strerror(reason));
    }
    return GLS_OK;
}

bool gls_output_is(const gls_output *output, const char *path)
{
    char *real = realpath(path, NULL);
    const bool same = strcmp(output->path, path) == 0 || (real && strcmp(output->path, real) == 0);
    free(real);
    return same;
}

/* Asks the kernel to begin to write the file to the disk. */
static void send(gls_output *output)
{
    /* a failure has no effect: commit_outputs() waits for all data */
    (void)sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    output->unsent = 0;
}

/* Counts written bytes, and sends them after every SEND_BYTES. */
static void count_unsent(gls_output *output, size_t bytes)
{
    output->unsent += bytes;
    if (output->unsent >= SEND_BYTES) send(output);
}

gls_status gls_output_write(gls_output *output, const void *data, size_t bytes)
{
    if (!gls_fd_write(output->fd, data, bytes))
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
    count_unsent(output, bytes);
    return GLS_OK;
}

gls_status gls_output_write_at(gls_output *output, uint64_t offset, const void *data, size_t bytes)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = pwrite(output->fd, p, bytes < MAX_PIECE ? bytes : MAX_PIECE, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
        p += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
        count_unsent(output, (size_t)n);
    }
    return GLS_OK;
}

/* Reserves a hole in the file, which gls_output_write_at() fills. */
gls_status gls_output_reserve(gls_output *output, uint64_t bytes, uint64_t *offset)
{
    off_t end = lseek(output->fd, (off_t)bytes, SEEK_CUR);
    if (end < 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
    *offset = (uint64_t)end - bytes;
    return GLS_OK;
}

gls_status gls_output_truncate(gls_output *output, uint64_t bytes)
{
    if (ftruncate(output->fd, (off_t)bytes) == 0 && lseek(output->fd, (off_t)bytes, SEEK_SET) >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
}

/* Renames a file to path; an existing file is an error unless overwrite. Returns 0, or -1 with errno set. */
static int move_file(const char *name, const char *path, bool overwrite)
{
    if (overwrite) return rename(name, path);
    /* RENAME_NOREPLACE: no other process can take the name between a check and the renaming */
    if (renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    /* the file system does not know RENAME_NOREPLACE */
    struct stat st;
    if (lstat(path, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(name, path);
}

gls_status gls_output_offer(gls_output *output, const char *second, bool *took)
{
    free(output->second);
    output->second = strdup(second);
    output->took_second = took;
    *took = false;
    return output->second ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output->path);
}

/* Gives the file `what` (its path, or its link in /proc/self/fd) a second, unused name beside `path` by a hard link.
 * Returns the name; NULL and errno on failure. */
static char *link_beside(const char *what, const char *path)
{
    int reason = ENOMEM;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char *name = temporary_name(path, attempt);
        if (!name) break;
        if (linkat(AT_FDCWD, what, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) return name;
        reason = errno;
        free(name);
        if (reason != EEXIST) break;
    }
    errno = reason;
    return NULL;
}

/* The file that an output replaces. */
typedef struct replaced_file {
    /* true: there was a file under the name */
    bool present;
    char *kept; /* second name, by which the file can be restored; NULL: no file, or a file system without links */
} replaced_file;

/* Gives a complete file its name. A file that is replaced keeps a second name in old->kept, so that it can be restored.
 * Returns 0, or -1 with errno. */
static int name_file_once(gls_output *output, replaced_file *old)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    /* a nameless file gets its name by a link, which cannot replace a file: over an existing file, make a temporary
     * name first */
    if (!output->temporary) {
        if (linkat(AT_FDCWD, self, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0) return 0;
        if (errno != EEXIST || !output->overwrite) return -1;
        output->temporary = link_beside(self, output->path);
        if (!output->temporary) return -1;
    }
    if (output->overwrite) {
        old->kept = link_beside(output->path, output->path);
        old->present = old->kept || errno != ENOENT;
    }
    if (move_file(output->temporary, output->path, output->overwrite) == 0) {
        free(output->temporary);
        output->temporary = NULL;
        return 0;
    }
    int reason = errno;
    if (old->kept) unlink(old->kept);
    free(old->kept);
    errno = reason;
    return -1;
}

/* Names the file; if the first name is taken, gives the file the second name that gls_output_offer() allowed. */
static int name_file(gls_output *output, replaced_file *old)
{
    int result = name_file_once(output, old);
    if (result == 0 || errno != EEXIST || !output->second) return result;
    free(output->path);
    free(output->given);
    output->given = NULL;
    output->path = output->second;
    output->second = NULL;
    *output->took_second = true;
    return name_file_once(output, old);
}

/* Waits until the names in the folder of a file are on the disk. A folder that cannot be opened or, as on some network
 * file systems, synchronised causes no error. */
static int synchronise_folder(const char *path)
{
    int dir = directory_length(path);
    char *folder = dir ? strndup(path, (size_t)dir) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0) return 0;
    int result = fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : -1;
    close(fd);
    return result;
}

gls_status gls_output_sync_names(const char *path)
{
    if (synchronise_folder(path) == 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: its folder cannot be written: %s", path, strerror(errno));
}

/* Waits until all data are on the disk. Names are given only afterwards, so that a crash of the machine leaves no name
 * without data. */
static gls_status synchronise(gls_output *output)
{
    /* a file that was closed while it waited is on the disk already */
    if (output->fd < 0 || fsync(output->fd) == 0 || errno == EINVAL || errno == EROFS) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
}

/* Returns the error for a file that got no name; errno is the reason. */
static gls_status fail_naming(const gls_output *output)
{
    if (errno == EEXIST) return gls_fail(GLS_ERR_OUTPUT, "%s: exists already and is not overwritten", output->path);
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", output->path, strerror(errno));
}

/* Takes back the name of an output after the failure of another: brings back the file that it replaced, or removes the
 * new file. Adds to the message where this fails; the new file stays then. */
static void take_back(const gls_output *output, const replaced_file *old)
{
    char reason[GLS_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", gls_last_error());
    if (old->kept && rename(old->kept, output->path) != 0)
        gls_error_set("%s; %s is the new file, and the file that it replaced is %s", reason, output->path, old->kept);
    else if (!old->kept && (old->present || unlink(output->path) != 0))
        gls_error_set("%s; %s was written nevertheless and stays", reason, output->path);
}

/* The function that gls_outputs_note() was given; NULL: none. */
static void (*_Atomic noted_by)(const char *path);

/* Gives all n files their names, once all data are on the disk. If one name fails, no new file remains and the replaced
 * files are restored, or the message names those that stay. All outputs are then as after gls_output_discard(). */
static gls_status commit_outputs(gls_output *outputs, size_t n)
{
    gls_status status = GLS_OK;
    size_t named = 0;
    replaced_file *old = calloc(n ? n : 1, sizeof *old);
    if (!old) status = gls_no_memory();
    /* in this order no name precedes its data: all data, all names, the folders; a failure undoes the names */
    for (size_t i = 0; i < n && !status; i++) status = synchronise(&outputs[i]);
    while (named < n && !status) {
        if (name_file(&outputs[named], &old[named]) != 0)
            status = fail_naming(&outputs[named]);
        else
            named++;
    }
    for (size_t i = 0; i < named && !status; i++)
        if (synchronise_folder(outputs[i].path) != 0) status = fail_naming(&outputs[i]);
    /* on success remove the replaced files; on failure bring them back and remove the new files */
    for (size_t i = named; i-- > 0;) {
        if (status)
            take_back(&outputs[i], &old[i]);
        else if (old[i].kept)
            unlink(old[i].kept);
        free(old[i].kept);
    }
    free(old);
    void (*const note)(const char *path) = atomic_load(&noted_by);
    for (size_t i = 0; i < named && note && !status; i++) note(outputs[i].given ? outputs[i].given : outputs[i].path);
    for (size_t i = 0; i < n; i++) {
        if (!status) remove_left_overs(outputs[i].path);
        gls_output_discard(&outputs[i]);
    }
    return status;
}

void gls_outputs_note(void (*note)(const char *path))
{
    atomic_store(&noted_by, note);
}

/* Prepares a complete file to wait in a group: the kernel begins to write it to the disk, while the caller makes the
 * next one. If half of the descriptors that the process may open are in use, closes the file once its data are on the
 * disk, and gives it a temporary name instead: that of a nameless file would stay open until the whole group is
 * complete. */
static gls_status wait_in_group(gls_output *output)
{
    char self[64];
    if ((size_t)output->fd < gls_file_limit() / 2) {
        send(output);
        return GLS_OK;
    }
    gls_status status = synchronise(output);
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    if (!status && !output->temporary) output->temporary = link_beside(self, output->path);
    if (status || !output->temporary) return status;
    close(output->fd);
    output->fd = -1;
    return GLS_OK;
}

size_t gls_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
    return (size_t)limit.rlim_cur;
}

gls_status gls_output_commit(gls_output *output)
{
    gls_output_group *group = output->group;
    /* a group keeps a complete file until all its files are complete */
    if (!group) return commit_outputs(output, 1);
    gls_status status = wait_in_group(output);
    if (!status && group->n == group->capacity) {
        size_t capacity = 2 * group->capacity + 4;
        gls_output *more = realloc(group->output, capacity * sizeof *more);
        if (more) {
            group->output = more;
            group->capacity = capacity;
        } else {
            status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output->path);
        }
    }
    if (!status) {
        group->output[group->n++] = *output;
        *output = GLS_OUTPUT_NONE;
    }
    gls_output_discard(output);
    return status;
}

void gls_output_group_lead(gls_output_group *group)
{
    if (group->n < 2) return;
    const gls_output last = group->output[group->n - 1];
    memmove(group->output + 1, group->output, (group->n - 1) * sizeof last);
    group->output[0] = last;
}

gls_status gls_output_group_commit(gls_output_group *group)
{
    gls_status status = commit_outputs(group->output, group->n);
    group->n = 0;
    gls_output_group_discard(group);
    return status;
}

void gls_output_group_discard(gls_output_group *group)
{
    while (group->n > 0) gls_output_discard(&group->output[--group->n]);
    if (group->folder) rmdir(group->folder);
    free(group->folder);
    free(group->output);
    *group = (gls_output_group){0};
}

gls_status gls_output_group_end(gls_output_group *group, gls_status status)
{
    if (!status) return gls_output_group_commit(group);
    gls_output_group_discard(group);
    return status;
}

gls_status gls_output_group_make_folder(gls_output_group *group, const char *path)
{
    const bool made = mkdir(path, 0777) == 0;
    struct stat st;
    if (!made && errno != EEXIST) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
    if (!made && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "%s: is a file, not a folder: give another name", path);
    if (made && !group->folder) group->folder = strdup(path);
    return GLS_OK;
}

uint64_t gls_output_size(const gls_output *output)
{
    struct stat st;
    return fstat(output->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

void gls_output_discard(gls_output *output)
{
    if (output->fd >= 0) close(output->fd);
    if (output->temporary) unlink(output->temporary);
    free(output->temporary);
    free(output->second);
    free(output->given);
    free(output->path);
    *output = GLS_OUTPUT_NONE;
}

gls_status gls_output_scratch(const gls_output *output, int *fd)
{
    *fd = open_nameless(output->path);
    if (*fd >= 0) return GLS_OK;
    char *name = NULL;
    *fd = open_named(output->path, &name);
    if (*fd < 0)
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create a temporary file beside it: %s", output->path,
                        strerror(errno));
    unlink(name);
    free(name);
    return GLS_OK;
}

gls_status gls_output_check(const char *path, bool overwrite, const char *const *others, size_t n_others)
{
    if (strcmp(path, "-") == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "-: this output is not written to standard output: give the name of a file");
    bool replaced;
    mode_t mode;
    gls_status status = gls_file_differs(path, others, n_others);
    return status ? status : check_target(path, overwrite, &replaced, &mode);
}
