/* Diagnoses why no usable device is found: looks at GPUs, drivers and libraries of the system, and gives advice. */
#include "check/doctor.h"

#include <cJSON.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/probe.h"
#include "gpu/renderers.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/text.h"

/* The array of findings in a section of the report. */
static cJSON *findings(cJSON *report, const char *section)
{
    cJSON *list = cJSON_GetObjectItem(report, section);
    return list ? list : cJSON_AddArrayToObject(report, section);
}

/* Whether a finding is a fault (MISSING), is as it should be (FINE), or is neither (NEUTRAL). */
typedef enum state { MISSING, FINE, NEUTRAL } state;
/* The words of the states in the JSON report. */
static const char *const state_words[] = {[MISSING] = "missing", [FINE] = "ok", [NEUTRAL] = "note"};

/* Adds a finding to a section of the report. */
__attribute__((format(printf, 4, 5))) static void find(cJSON *report, const char *section, state s, const char *format,
                                                       ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    gls_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "state", state_words[s]);
    cJSON_AddStringToObject(item, "text", text);
    cJSON_AddItemToArray(findings(report, section), item);
}

/* Facts about the system that were found. Some advice depends on several of them. */
typedef struct facts {
    /* usable_nodes: render nodes that the user may read and write */
    int render_nodes, usable_nodes;
    int gpus, nvidia_gpus;                     /* display controllers on the PCI bus */
    int platform_gpus;                         /* GPUs in the processor */
    int vendors, nvidia_vendors, mesa_vendors; /* EGL vendor libraries that can be loaded */
    bool nvidia_nodes;                         /* true: the file /dev/nvidia0 exists */
    bool container;
    char variables[1024]; /* names of the variables that are set and change drivers, as options of env: "-u A -u B" */
    /* the report, to which findings and advice are added */
    cJSON *report;
} facts;

void gls_doctor_finding(void *user, bool usable, const char *line)
{
    find(user, "looked_for", usable ? FINE : MISSING, "%s", line);
}

/* Adds a problem and its remedy to the report. */
static void advise(const facts *f, const char *problem, const char *remedy)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "problem", problem);
    cJSON_AddStringToObject(item, "remedy", remedy);
    cJSON_AddItemToArray(findings(f->report, "to_fix"), item);
}

/* Whether a file exists. */
static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Reads the first line of a file without its end. Returns false if there is none. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    bool ok = file && fgets(line, size, file);
    if (file) fclose(file);
    if (ok) line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* Finds the kernel driver of a device in a folder of /sys; without one, *driver is "none". */
static bool find_driver(const char *root, const char *device, char driver[64])
{
    char path[512], target[512];
    snprintf(path, sizeof path, "%s/%.200s/driver", root, device);
    /* the link names the driver; without a driver there is no link */
    const ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(target, '/');
    snprintf(driver, 64, "%.63s", name ? name + 1 : "none");
    return length > 0;
}

/* Counts graphics cards that the kernel sees, with or without a driver. */
static void look_at_pci(facts *f)
{
    static const char *const root = "/sys/bus/pci/devices";
    DIR *directory = opendir(root);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char path[512], line[64], driver[64];
        snprintf(path, sizeof path, "%s/%s/class", root, entry->d_name);
        /* 0x03....: class of display controllers */
        if (!read_line(path, line, sizeof line) || strncmp(line, "0x03", 4) != 0) continue;
        snprintf(path, sizeof path, "%s/%s/vendor", root, entry->d_name);
        if (!read_line(path, line, sizeof line)) continue;
        const char *vendor = strcmp(line, "0x10de") == 0   ? "NVIDIA"
                             : strcmp(line, "0x1002") == 0 ? "AMD"
                             : strcmp(line, "0x8086") == 0 ? "Intel"
                                                           : line;
        const bool driven = find_driver(root, entry->d_name, driver);
        find(f->report, "system", driven ? FINE : MISSING, "graphics device %s: %s, kernel driver %s", entry->d_name,
             vendor, driver);
        f->gpus++;
        f->nvidia_gpus += strcmp(vendor, "NVIDIA") == 0;
    }
    if (directory) closedir(directory);
}

/* Counts GPUs in the processor, as on a Raspberry Pi. They are on no bus; the device tree names them. */
static void look_at_platform(facts *f)
{
    static const struct {
        const char *compatible, *name, *driver;
    } kinds[] = {{"v3d", "Broadcom VideoCore (Raspberry Pi)", "v3d"},
                 {"mali", "Arm Mali", "panfrost, panthor or lima"},
                 {"qcom,adreno", "Qualcomm Adreno", "msm"},
                 {"vivante,gc", "Vivante", "etnaviv"},
                 {"nvidia,g", "NVIDIA Tegra", "nvgpu or nouveau"},
                 {"img,", "Imagination PowerVR", "powervr"},
                 {"apple,agx", "Apple", "asahi"}};
    static const char *const root = "/sys/bus/platform/devices";
    DIR *directory = opendir(root);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char path[512], line[256], driver[64];
        size_t k = 0, n = sizeof kinds / sizeof *kinds;
        /* Names are separated by zeros; the first one is the most specific. */
        snprintf(path, sizeof path, "%s/%.200s/of_node/compatible", root, entry->d_name);
        if (!read_line(path, line, sizeof line)) continue;
        while (k < n && !strstr(line, kinds[k].compatible)) k++;
        if (k == n) continue;
        const bool driven = find_driver(root, entry->d_name, driver);
        find(f->report, "system", driven ? FINE : MISSING,
             "graphics device %s: %s, part of the processor, kernel driver %s", entry->d_name, kinds[k].name, driver);
        f->platform_gpus++;
        /* a GPU of the processor without a driver is the likely cause of a failure */
        if (driven) continue;
        char problem[256], remedy[256];
        snprintf(problem, sizeof problem, "The processor has a GPU (%s), but no kernel driver runs it.", kinds[k].name);
        snprintf(remedy, sizeof remedy, "Load its driver (%s); on a Raspberry Pi: dtoverlay=vc4-kms-v3d in config.txt.",
                 kinds[k].driver);
        advise(f, problem, remedy);
    }
    if (directory) closedir(directory);
    if (f->gpus + f->platform_gpus == 0)
        find(f->report, "system", NEUTRAL,
             "no graphics device on the PCI bus or in the processor (normal on a machine "
             "without a GPU)");
}

/* Counts render nodes, and advises how to get permission to use them. */
static void look_at_render_nodes(facts *f)
{
    DIR *directory = opendir("/dev/dri");
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char path[300], problem[512], remedy[512];
        struct stat info;
        if (strncmp(entry->d_name, "renderD", 7) != 0) continue;
        snprintf(path, sizeof path, "/dev/dri/%s", entry->d_name);
        f->render_nodes++;
        /* give advice only on nodes to which the user has no permission, not on other faults */
        if (access(path, R_OK | W_OK) == 0) {
            f->usable_nodes++;
            continue;
        }
        if (errno != EACCES || stat(path, &info) != 0) continue;
        const struct group *group = getgrgid(info.st_gid);
        snprintf(problem, sizeof problem, "%s exists, but you have no permission to use it.", path);
        /* a group of a container's host may have no name inside the container */
        if (group)
            snprintf(remedy, sizeof remedy,
                     "Join its group and log in again: sudo usermod -aG %s $USER (in a container: --group-add %u).",
                     group->gr_name, (unsigned)info.st_gid);
        else
            snprintf(remedy, sizeof remedy,
                     "It belongs to group %u, which has no name here: start the container with --group-add %u.",
                     (unsigned)info.st_gid, (unsigned)info.st_gid);
        advise(f, problem, remedy);
    }
    if (directory) closedir(directory);
}

/* Reads one vendor file of libglvnd: {"ICD": {"library_path": "libEGL_x.so.0"}}. */
static void look_at_vendor(const char *path, facts *f)
{
    char text[4096], reason[512] = "not a vendor file";
    uint64_t bytes = 0;
    int fd = -1;
    int64_t n = gls_regular_open(path, &fd, &bytes) ? 0 : gls_fd_read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    cJSON *root = gls_json_parse(text);
    const cJSON *library = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "ICD"), "library_path");
    void *handle = NULL;
    if (cJSON_IsString(library)) {
        handle = dlopen(library->valuestring, RTLD_LAZY | RTLD_LOCAL);
        if (!handle) snprintf(reason, sizeof reason, "%s", dlerror());
    }
    find(f->report, "system", handle ? FINE : MISSING, "EGL vendor %s: %s", path,
         handle ? library->valuestring : reason);
    if (handle) {
        f->vendors++;
        f->nvidia_vendors += strstr(library->valuestring, "nvidia") != NULL;
        f->mesa_vendors += strstr(library->valuestring, "mesa") != NULL;
        /* The library stays loaded, because some drivers crash when they are unloaded. */
    }
    cJSON_Delete(root);
}

/* Reads the vendor files of libglvnd: the files that its first environment variable names; without it, the files in the
 * folders that its second one names; without both, the files in its default folders. */
static void look_at_vendors(facts *f)
{
    const char *files = getenv("__EGL_VENDOR_LIBRARY_FILENAMES"), *dirs = getenv("__EGL_VENDOR_LIBRARY_DIRS");
    char list[4096], *state = NULL;
    bool seen = false;
    /* the first variable names files, the second one folders */
    snprintf(list, sizeof list, "%s",
             files  ? files
             : dirs ? dirs
                    : "/etc/glvnd/egl_vendor.d:/usr/share/glvnd/egl_vendor.d");
    for (char *item = strtok_r(list, ":", &state); item; item = strtok_r(NULL, ":", &state)) {
        if (files) {
            look_at_vendor(item, f);
            seen = true;
            continue;
        }
        DIR *directory = opendir(item);
        struct dirent *entry;
        while (directory && (entry = readdir(directory))) {
            char path[4400];
            size_t length = strlen(entry->d_name);
            /* libglvnd reads files with this suffix only */
            if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0) continue;
            snprintf(path, sizeof path, "%s/%s", item, entry->d_name);
            look_at_vendor(path, f);
            seen = true;
        }
        if (directory) closedir(directory);
    }
    if (!seen) find(f->report, "system", MISSING, "no EGL vendor file");
}

/* Names the variables that are set and change which devices there are or what they offer. */
static void look_at_variables(facts *f)
{
    for (char **entry = environ; entry && *entry; entry++) {
        const char *reader = gls_driver_variable(*entry);
        const size_t n = strcspn(*entry, "="), used = strlen(f->variables);
        if (!reader) continue;
        find(f->report, "system", NEUTRAL, "%.300s is set; %s reads it", *entry, reader);
        if (used + n + 5 < sizeof f->variables)
            snprintf(f->variables + used, sizeof f->variables - used, "-u %.*s ", (int)n, *entry);
    }
}

/* Advises on variables that may hide devices, and on a failure that nothing else explains. */
static void advise_variables(const facts *f, size_t n_devices)
{
    char remedy[sizeof f->variables + 128];
    snprintf(remedy, sizeof remedy, "Try without them: env %sglslines devices", f->variables);
    if (*f->variables)
        advise(f, "Variables of the environment change which devices there are or what they offer.", remedy);
    else if (n_devices == 0 && cJSON_GetArraySize(findings(f->report, "to_fix")) == 0)
        advise(f, "No device can be used, and nothing that was looked for explains why.",
               "See what Mesa says: EGL_LOG_LEVEL=debug LIBGL_DEBUG=verbose glslines devices; and what other programs "
               "see: eglinfo -B (apt-get install mesa-utils-bin).");
}

/* Whether glslines runs in a container, by files and variables of Docker, Podman, Apptainer and Kubernetes. */
static bool in_container(void)
{
    return exists("/.dockerenv") || exists("/run/.containerenv") || exists("/.singularity.d") ||
           getenv("APPTAINER_NAME") || getenv("SINGULARITY_NAME") || getenv("container") ||
           getenv("KUBERNETES_SERVICE_HOST");
}

/* Advises on missing EGL libraries. */
static void advise_libraries(const facts *f)
{
    void *egl = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!egl) advise(f, "libEGL.so.1 cannot be loaded.", "Install it: apt-get install libegl1");
    if (f->vendors == 0)
        advise(f, "No EGL vendor library can be loaded, so EGL has nothing to offer.",
               "For Mesa (AMD, Intel, software): apt-get install libegl-mesa0 libgl1-mesa-dri. For NVIDIA: the "
               "driver's libEGL_nvidia.so.0.");
    else if (f->mesa_vendors == 0)
        advise(f, "Mesa's EGL library is not installed, so there is no software renderer to fall back on.",
               "apt-get install libegl-mesa0 libgl1-mesa-dri");
    if (egl) dlclose(egl);
}

/* Advises on an NVIDIA GPU without its EGL library, in a container or outside one. */
static void advise_nvidia(const facts *f)
{
    if (!(f->nvidia_nodes || f->nvidia_gpus > 0) || f->nvidia_vendors > 0) return;
    if (f->container)
        advise(f, "An NVIDIA GPU is here, but its EGL library is not passed into this container.",
               "Docker, Podman: --gpus all -e NVIDIA_DRIVER_CAPABILITIES=graphics,compute,utility. Apptainer: --nv. If "
               "10_nvidia.json alone is missing, write "
               "{\"file_format_version\":\"1.0.0\",\"ICD\":{\"library_path\":\"libEGL_nvidia.so.0\"}} to "
               "/usr/share/glvnd/egl_vendor.d/10_nvidia.json.");
    else
        advise(f, "An NVIDIA GPU is here, but its EGL library is not installed.",
               "Debian: apt-get install nvidia-driver libnvidia-egl-gbm1; Ubuntu: the libnvidia-gl package of your "
               "driver's version.");
}

/* Adds for each device whether glslines was tested on its kind, and which devices it was tested on. */
static void add_experience(cJSON *report, const gls_device_info *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (gls_renderer_was_tested(&list[i]))
            find(report, "experience", FINE, "%s: glslines has been tested on this kind of device", list[i].renderer);
        else
            find(report, "experience", NEUTRAL,
                 "%s: glslines has not been tested on this kind of device yet; 'glslines devices --check' tests it "
                 "here, and a report of what it says is welcome%s",
                 list[i].renderer,
                 gls_renderer_is_known(&list[i]) ? "" : "; the first run of each direction getter tests it in short");
    }
    find(report, "experience", NEUTRAL,
         "tested on NVIDIA H100 and H200, Mesa's llvmpipe, and zink; in part on Mesa's softpipe, which mixes up arrays "
         "of invocations; only compiled for, not run on: AMD, Intel, Qualcomm Adreno, Arm Mali and Raspberry Pi (V3D); "
         "see 'glslines help drivers'");
}

/* Writes one section of the report as text, a line for each finding with its mark. */
static void print_section(gls_text *out, const cJSON *report, const char *section, const char *title)
{
    static const char *const marks[] = {[MISSING] = "[--]", [FINE] = "[ok]", [NEUTRAL] = "note"};
    const cJSON *item;
    gls_text_printf(out, "%s:\n", title);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(report, section))
    {
        const char *word = cJSON_GetObjectItem(item, "state")->valuestring;
        int s = MISSING;
        while (s < NEUTRAL && strcmp(state_words[s], word) != 0) s++;
        gls_text_printf(out, "  %s ", marks[s]);
        gls_text_show(out, cJSON_GetObjectItem(item, "text")->valuestring);
        gls_text_puts(out, "\n");
    }
}

char *gls_doctor_search_text(const struct cJSON *report)
{
    gls_text text = {0};
    print_section(&text, report, "looked_for", "Looked for");
    return gls_text_take(&text);
}

char *gls_doctor_text(const struct cJSON *report)
{
    const cJSON *item, *advice = cJSON_GetObjectItem(report, "to_fix");
    gls_text text = {0};
    int n = 0;
    print_section(&text, report, "system", "\nSystem");
    print_section(&text, report, "experience", "\nTested on");
    gls_text_puts(&text, cJSON_GetArraySize(advice) > 0 ? "\nWhat to fix:\n" : "\nNothing to fix.\n");
    cJSON_ArrayForEach(item, advice)
    {
        gls_text_printf(&text, "  %d. ", ++n);
        gls_text_show(&text, cJSON_GetObjectItem(item, "problem")->valuestring);
        gls_text_puts(&text, "\n     ");
        gls_text_show(&text, cJSON_GetObjectItem(item, "remedy")->valuestring);
        gls_text_puts(&text, "\n");
    }
    return gls_text_take(&text);
}

void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices)
{
    facts f = {.container = in_container(), .nvidia_nodes = exists("/dev/nvidia0"), .report = report};
    bool hardware = false;
    for (size_t i = 0; i < n_devices; i++) hardware = hardware || !list[i].software;
    /* makes an empty list, so that the JSON always has this member */
    findings(report, "to_fix");
    look_at_pci(&f);
    look_at_platform(&f);
    look_at_vendors(&f);
    look_at_variables(&f);
    if (f.container)
        find(report, "system", NEUTRAL,
             "glslines runs inside a container: it sees the GPUs that were passed into it, no others");
    look_at_render_nodes(&f);
    /* GPUs of NVIDIA do not count: their driver needs no render node */
    if (f.render_nodes == 0 && f.gpus + f.platform_gpus > f.nvidia_gpus)
        advise(&f, "A GPU is here, but there is no render node /dev/dri/renderD*.",
               f.container
                   ? "Pass the GPU into the container: --device /dev/dri."
                   : "Load the GPU's kernel driver (amdgpu, i915, xe, nouveau, v3d, panfrost ...); some need firmware: "
                     "apt-get install firmware-linux.");
    advise_nvidia(&f);
    advise_libraries(&f);
    /* where no GPU is seen, a software renderer is all that there can be */
    const bool lacks = n_devices == 0 || (!hardware && (f.gpus || f.nvidia_nodes || f.platform_gpus));
    if (lacks) advise_variables(&f, n_devices);
    if (n_devices > 0 && !hardware)
        advise(&f,
               "Only a software renderer is usable: everything works, but on the CPU, many times slower than on a GPU.",
               f.gpus || f.nvidia_nodes || f.platform_gpus
                   ? "The points above may bring the GPU back."
                   : "This machine shows no GPU; in a container or virtual machine one has to be passed on.");
    add_experience(report, list, n_devices);
}
