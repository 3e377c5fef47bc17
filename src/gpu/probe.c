/* Tries all drivers in a child process, and remembers in a file which of them crash or hang. The child announces each
 * place of gpu/drivers.h, such as a render node or an EGL device, before it tries it. If the child dies or falls
 * silent, the place that it announced last has failed. The variables of this file belong to the whole process; `lock`
 * guards them. */
#include "gpu/probe.h"
#include "gpu/drivers.h"

#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/file.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

/* Largest number of failed drivers. After so many failures probing gives up, and writes no file. */
#define MAX_FAILURES 16
#define SECONDS 30 /* time limit for a driver, s; some drivers first start up a GPU */

/* A driver that crashed or did not answer. */
typedef struct failure {
    char place[64], reason[64];
} failure;

/* The drivers that failed, for the whole process; known: probing has a result; warned: gls_probe_warn() was called.
 * `lock` guards them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static failure failures[MAX_FAILURES];
static size_t n_failures;
static bool known, warned;
static int steps_to = -1; /* in the child process: descriptor to which the steps of the search are written */

/* Gives a copy made by fork() a new lock: a thread that does not exist in the copy may hold the old one. */
static void renew(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
GLS_IN_COPIES(renew)

/* Returns the failure of a place (see gpu/drivers.h), or NULL. The caller holds the lock. */
static const failure *find_failure(const char *place)
{
    for (size_t i = 0; i < n_failures; i++)
        if (strcmp(failures[i].place, place) == 0) return &failures[i];
    return NULL;
}

const char *gls_device_failure(size_t i, const char **reason)
{
    pthread_mutex_lock(&lock);
    const failure *f = i < n_failures ? &failures[i] : NULL;
    pthread_mutex_unlock(&lock);
    if (f && reason) *reason = f->reason;
    return f ? f->place : NULL;
}

const char *gls_probe_failure(const char *place)
{
    pthread_mutex_lock(&lock);
    const failure *f = find_failure(place);
    pthread_mutex_unlock(&lock);
    return f ? f->reason : NULL;
}

bool gls_probe_surfaceless(void)
{
    bool node_failed = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_failures; i++) node_failed = node_failed || failures[i].place[0] == '/';
    pthread_mutex_unlock(&lock);
    return !node_failed && !gls_probe_failure(GLS_PLACE_SURFACELESS);
}

bool gls_probe_step(const char *place)
{
    if (gls_probe_failure(place)) return false;
    if (steps_to >= 0) dprintf(steps_to, "step\t%s\n", place);
    return true;
}

void gls_probe_warn(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_failures && !warned; i++)
        gls_log(GLS_LOG_WARNING, "%s is left out: %s ('glslines devices' tries it again)", failures[i].place,
                failures[i].reason);
    warned = true;
    pthread_mutex_unlock(&lock);
}

/* Notes that the driver of a place fails. Call with the lock held. */
static void add_failure(const char *place, const char *reason)
{
    if (n_failures == MAX_FAILURES) return;
    snprintf(failures[n_failures].place, sizeof failures->place, "%s", place);
    snprintf(failures[n_failures].reason, sizeof failures->reason, "%s", reason);
    n_failures++;
}

/* --- Whether there may be a driver to probe, and on what the result of probing depends. */

/* Device files of drivers without render nodes. Drivers of Mesa have render nodes. */
static const char *const others[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0", "/dev/nvhost-ctrl"};
/* Folders in which drivers are installed, and files that say which driver is used. */
static const char *const places[] = {"/etc/ld.so.cache", "/run/opengl-driver", "/usr/share/glvnd/egl_vendor.d",
                                     "/etc/glvnd/egl_vendor.d"};
/* Beginnings of names of variables, and who reads them; the first row that fits counts. reader NULL: the variable does
 * not change which devices there are and what they offer. */
static const struct {
    const char *name, *reader;
} steering[] = {
    {"EGL_LOG_LEVEL", NULL},
    {"LIBGL_DEBUG", NULL},
    {"LP_NUM_THREADS", NULL},
    {"MESA_DEBUG", NULL},
    {"MESA_DISK_CACHE_", NULL},
    {"MESA_GLSL_CACHE_", NULL},
    {"MESA_LOG", NULL},
    {"MESA_SHADER_CACHE_", NULL},
    {"__EGL_", "libglvnd and EGL's external platforms"},
    {"__GL", "libglvnd and NVIDIA's driver"},
    {"__NV_", "NVIDIA's driver"},
    {"AMD_DEBUG", "Mesa"},
    {"D3D12_", "Mesa"},
    {"DRI_PRIME", "Mesa"},
    {"EGL_", "Mesa"},
    {"GALLIUM_", "Mesa"},
    {"GALLIVM_", "Mesa"},
    {"GBM_", "Mesa"},
    {"INTEL_DEBUG", "Mesa"},
    {"LIBGL_", "Mesa"},
    {"LP_", "Mesa"},
    {"MESA_", "Mesa"},
    {"SOFTPIPE_", "Mesa"},
    {"ST_DEBUG", "Mesa"},
    {"ZINK_", "Mesa"},
    {"VK_", "the Vulkan loader, on which zink runs"},
    {"LD_AUDIT", "the dynamic linker"},
    {"LD_LIBRARY_PATH", "the dynamic linker"},
    {"LD_PRELOAD", "the dynamic linker"},
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Mixes a text into a hash. */
static uint64_t mix(uint64_t key, const char *text)
{
    return key * 31 + gls_hash(text, strlen(text));
}

const char *gls_driver_variable(const char *entry)
{
    for (size_t i = 0; i < COUNT(steering); i++)
        if (strncmp(entry, steering[i].name, strlen(steering[i].name)) == 0) return steering[i].reader;
    return NULL;
}

/* Hash of the names of all device files of GPUs; 0: there are none. */
static uint64_t device_files(void)
{
    uint64_t key = 0;
    DIR *folder = opendir("/dev/dri");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, "renderD", 7) == 0) key += gls_hash(entry->d_name, strlen(entry->d_name));
    if (folder) closedir(folder);
    for (size_t i = 0; i < COUNT(others); i++)
        if (access(others[i], F_OK) == 0) key += gls_hash(others[i], strlen(others[i]));
    return key;
}

/* Mixes the time of the last change of a file or folder into a hash; a path that does not exist leaves the hash as it
 * is. */
static uint64_t mix_age(uint64_t key, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return key;
    return key * 31 + (uint64_t)info.st_mtim.tv_sec * 1000000007u + (uint64_t)info.st_mtim.tv_nsec;
}

/* A hash that changes when a driver in the kernel or in user space changes, and whenever the machine starts. */
static uint64_t state_of_drivers(void)
{
    char *boot = NULL;
    size_t n;
    uint64_t key = device_files();
    struct utsname system;
    if (uname(&system) == 0) key = mix(key, system.release);
    if (gls_file_read("/proc/sys/kernel/random/boot_id", 256, &boot, &n) == GLS_OK) key = mix(key, boot);
    free(boot);
    for (size_t i = 0; i < COUNT(places); i++) key = mix_age(key, places[i]);
    for (char **entry = environ; entry && *entry; entry++) {
        const char *value = gls_driver_variable(*entry) ? strchr(*entry, '=') : NULL;
        char *list = value ? strdup(value + 1) : NULL, *rest = NULL;
        for (char *path = list ? strtok_r(list, ":", &rest) : NULL; path; path = strtok_r(NULL, ":", &rest))
            key = mix_age(key, path);
        free(list);
    }
    return key;
}

/* Stores in path[size] the path of the file that keeps the result of probing on this host with these variables. make:
 * creates the folders. Returns false as gls_kept_path() does. */
static bool find_note(bool make, char *path, size_t size)
{
    struct utsname system;
    uint64_t key = 0;
    if (uname(&system) == 0) key = mix(key, system.nodename);
    /* a sum, since variables have no order */
    for (char **entry = environ; entry && *entry; entry++)
        if (gls_driver_variable(*entry)) key += gls_hash(*entry, strlen(*entry));
    return gls_kept_path("drivers", key, make, path, size);
}

/* Reads the result of an earlier process from its file: "STATE", then "PLACE\tREASON" for each place that fails, then
 * "end". Returns false if there is no complete result, or the drivers have changed. */
static bool read_note(void)
{
    char path[4096], *text = NULL, *rest = NULL;
    size_t n;
    unsigned long long state;
    bool whole = false;
    if (!find_note(false, path, sizeof path) || !gls_kept_is_file(path, true)) return false;
    if (gls_file_read(path, 1 << 16, &text, &n) != GLS_OK) return false;
    char *line = strtok_r(text, "\n", &rest);
    if (line && sscanf(line, "%llx", &state) == 1 && state == state_of_drivers())
        while ((line = strtok_r(NULL, "\n", &rest)) && !whole) {
            char *tab = strchr(line, '\t');
            whole = strcmp(line, "end") == 0;
            if (!tab) continue;
            *tab = '\0';
            add_failure(line, tab + 1);
        }
    free(text);
    if (!whole) n_failures = 0;
    return whole;
}

/* Writes what was found of drivers to the cache folder, with a hash of the installed drivers, so that the next process
 * need not try them again. */
static void write_note(void)
{
    char path[4096], text[MAX_FAILURES * sizeof(failure) + 64];
    if (!find_note(true, path, sizeof path)) return;
    int n = snprintf(text, sizeof text, "%016llx\n", (unsigned long long)state_of_drivers());
    for (size_t i = 0; i < n_failures; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s\t%s\n", failures[i].place, failures[i].reason);
    n += snprintf(text + n, sizeof text - (size_t)n, "end\n");
    if (gls_kept_write(path, text, (size_t)n) != GLS_OK)
        gls_log(GLS_LOG_DEBUG, "what was found of drivers is not kept: %s", gls_last_error());
}

/* --- The search in a child process. */

/* A search for devices in a child process. */
typedef struct trial {
    gls_graphics api;
    gls_probe_search search;
    gls_device_info *list; /* memory shared with the child */
    size_t n, capacity;
    gls_text findings;
    char place[64]; /* the place, see gpu/drivers.h, that the child announced last */
    bool ended;
} trial;

/* Runs in the child: sends a finding to the parent as a line. user: descriptor. */
static void write_finding(void *user, bool usable, const char *line)
{
    dprintf(*(int *)user, "finding\t%d\t%s\n", usable, line);
}

/* Runs in the child: searches all devices. */
static void try_all(void *user, int fd)
{
    const trial *t = user;
    steps_to = fd;
    size_t n = t->search(t->list, t->capacity, t->api, write_finding, &fd);
    dprintf(fd, "end\t%zu\n", n);
}

/* Takes a line that the child process wrote: the place that it tries next, a finding, or "end" with the number of
 * devices. Returns true: read on. */
static bool hear(void *user, const char *line)
{
    trial *t = user;
    if (strncmp(line, "step\t", 5) == 0) {
        snprintf(t->place, sizeof t->place, "%s", line + 5);
    } else if (strncmp(line, "finding\t", 8) == 0) {
        gls_text_puts(&t->findings, line + 8);
        gls_text_puts(&t->findings, "\n");
    } else {
        t->ended = sscanf(line, "end\t%zu", &t->n) == 1;
    }
    return true;
}

/* Repeats the search, each time without the places that have failed, until one search ends normally. Returns false if
 * no child process can be started, too many drivers fail, or one fails a second time. */
static bool run_trials(trial *t, double seconds, bool quiet)
{
    while (n_failures < MAX_FAILURES) {
        char reason[64];
        gls_child child;
        gls_text_finish(&t->findings);
        strcpy(t->place, GLS_PLACE_EGL);
        if (!gls_child_fork(&child, quiet, try_all, t)) return false;
        gls_child_end end = gls_child_attend(&child, seconds, hear, t);
        if (t->ended) return true;
        if (end.late)
            gls_snprintf(reason, sizeof reason, "the driver did not answer within %g s", seconds);
        else if (end.signal)
            snprintf(reason, sizeof reason, "the driver crashed (signal %d)", end.signal);
        else
            snprintf(reason, sizeof reason, "the driver ended the process");
        if (find_failure(t->place)) return false;
        add_failure(t->place, reason);
    }
    return false;
}

/* Reads the time limit for a driver, seconds, from GLSLINES_PROBE. If the variable is not set, the limit is SECONDS
 * where there is a GPU, otherwise 0. 0: do not probe. */
static gls_status read_seconds(double *seconds)
{
    const char *text = getenv("GLSLINES_PROBE");
    *seconds = device_files() ? SECONDS : 0;
    if (!text || !*text) return GLS_OK;
    if (!gls_parse_double(text, seconds) || *seconds < 0 || *seconds > 3600)
        return gls_fail(GLS_ERR_ARGUMENT, "GLSLINES_PROBE: '%s' is no number of seconds from 0 to 3600", text);
    return GLS_OK;
}

/* Whether a loaded library is a graphics driver; 1 ends the search. For dl_iterate_phdr(). */
static int is_driver(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size;
    (void)user;
    const char *slash = strrchr(object->dlpi_name, '/'), *name = slash ? slash + 1 : object->dlpi_name;
    return strncmp(name, "libEGL_", 7) == 0 || strncmp(name, "libgallium", 10) == 0 || strstr(name, "_dri.so") != NULL;
}

/* Whether a driver is loaded in this process; it would not work in a child after fork(). libEGL itself is not a driver,
 * but loads drivers. */
static bool driver_is_loaded(void)
{
    return dl_iterate_phdr(is_driver, NULL) != 0;
}

/* Probes, unless the result is known; with `anew` even then. *done: whether a search in a child process ended normally.
 */
static gls_status probe(trial *t, bool anew, bool *done)
{
    double seconds;
    *done = false;
    gls_status status = read_seconds(&seconds);
    if (status || seconds == 0 || (known && !anew)) return status;
    /* the result in the file is enough unless `anew`; with a driver loaded a child could not probe */
    bool noted = !known && read_note(), loaded = driver_is_loaded();
    known = true;
    if (loaded || (noted && !anew)) return GLS_OK;
    size_t bytes = t->capacity * sizeof *t->list;
    t->list = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->list == MAP_FAILED) return gls_fail(GLS_ERR_MEMORY, "out of memory for the list of devices");
    n_failures = 0;
    *done = run_trials(t, seconds, !anew);
    if (*done) write_note();
    return GLS_OK;
}

/* Frees the memory of a trial. */
static void finish(trial *t)
{
    if (t->list && t->list != MAP_FAILED) munmap(t->list, t->capacity * sizeof *t->list);
    gls_text_finish(&t->findings);
}

gls_status gls_probe_list(gls_graphics api, gls_probe_search search, gls_device_info *list, size_t capacity, size_t *n,
                          gls_device_finding finding, void *user, bool *done)
{
    trial t = {.api = api, .search = search, .capacity = capacity};
    pthread_mutex_lock(&lock);
    gls_status status = probe(&t, true, done);
    *n = *done ? t.n : 0;
    if (*n > 0) memcpy(list, t.list, *n * sizeof *list);
    /* report failures first, then the findings of the child, each of which is a line "USABLE\tTEXT", USABLE 0 or 1 */
    for (size_t i = 0; *done && finding && i < n_failures; i++) {
        char line[2 * sizeof *failures];
        snprintf(line, sizeof line, "%.63s: %.63s", failures[i].place, failures[i].reason);
        finding(user, false, line);
    }
    char *rest = NULL, *line = *done && finding && t.findings.data ? strtok_r(t.findings.data, "\n", &rest) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest)) finding(user, *line == '1', line + 2);
    finish(&t);
    pthread_mutex_unlock(&lock);
    return status;
}

gls_status gls_probe_drivers(gls_graphics api, gls_probe_search search, size_t capacity)
{
    bool done;
    trial t = {.api = api, .search = search, .capacity = capacity};
    pthread_mutex_lock(&lock);
    gls_status status = probe(&t, false, &done);
    finish(&t);
    pthread_mutex_unlock(&lock);
    return status;
}
