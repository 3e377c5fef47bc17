#include "workflow/doctor.h"

#include <cJSON.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/text.h"

/* What was seen, for advice that needs more than one fact. */
typedef struct facts {
    int render_nodes, usable_nodes;
    int gpus, nvidia_gpus;                     /* display controllers on the PCI bus */
    int vendors, nvidia_vendors, mesa_vendors; /* EGL vendor libraries that load */
    bool nvidia_nodes;                         /* /dev/nvidia0 */
    bool container;
    int problems;
    gls_text *text;
} facts;

static void advise(facts *f, const char *problem, const char *remedy)
{
    if (f->problems == 0) gls_text_puts(f->text, "\nWhat to mend:\n");
    gls_text_printf(f->text, "  %d. %s\n     %s\n", ++f->problems, problem, remedy);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    bool ok = file && fgets(line, size, file);
    if (file) fclose(file);
    if (ok) line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* Graphics cards that the kernel sees, whether it drives them or not. */
static void look_at_pci(facts *f)
{
    static const char *const root = "/sys/bus/pci/devices";
    DIR *directory = opendir(root);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char path[512], line[64], target[512];
        snprintf(path, sizeof path, "%s/%s/class", root, entry->d_name);
        if (!read_line(path, line, sizeof line) || strncmp(line, "0x03", 4) != 0) continue;
        snprintf(path, sizeof path, "%s/%s/vendor", root, entry->d_name);
        if (!read_line(path, line, sizeof line)) continue;
        const char *vendor = strcmp(line, "0x10de") == 0   ? "NVIDIA"
                             : strcmp(line, "0x1002") == 0 ? "AMD"
                             : strcmp(line, "0x8086") == 0 ? "Intel"
                                                           : line;
        snprintf(path, sizeof path, "%s/%s/driver", root, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        const char *driver = strrchr(target, '/');
        gls_text_printf(f->text, "  [%s] graphics device %s: %s, kernel driver %s\n", length > 0 ? "ok" : "--",
                        entry->d_name, vendor, driver ? driver + 1 : "none");
        f->gpus++;
        f->nvidia_gpus += strcmp(vendor, "NVIDIA") == 0;
    }
    if (directory) closedir(directory);
    if (f->gpus == 0) gls_text_puts(f->text, "  [--] no graphics device on the PCI bus\n");
}

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
        if (access(path, R_OK | W_OK) == 0) {
            f->usable_nodes++;
            continue;
        }
        if (errno != EACCES || stat(path, &info) != 0) continue;
        const struct group *group = getgrgid(info.st_gid);
        snprintf(problem, sizeof problem, "%s exists, but you have no permission to use it.", path);
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

/* One vendor file of libglvnd: {"ICD": {"library_path": "libEGL_x.so.0"}}. */
static void look_at_vendor(const char *path, facts *f)
{
    char text[4096], reason[512] = "not a vendor file";
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = '\0';
    cJSON *root = cJSON_Parse(text);
    const cJSON *library = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "ICD"), "library_path");
    void *handle = NULL;
    if (cJSON_IsString(library)) {
        handle = dlopen(library->valuestring, RTLD_LAZY | RTLD_LOCAL);
        if (!handle) snprintf(reason, sizeof reason, "%s", dlerror());
    }
    gls_text_printf(f->text, "  [%s] EGL vendor %s: %s\n", handle ? "ok" : "--", path,
                    handle ? library->valuestring : reason);
    if (handle) {
        f->vendors++;
        f->nvidia_vendors += strstr(library->valuestring, "nvidia") != NULL;
        f->mesa_vendors += strstr(library->valuestring, "mesa") != NULL;
        /* left loaded: some drivers do not survive being unloaded */
    }
    cJSON_Delete(root);
}

static void look_at_vendors(facts *f)
{
    const char *files = getenv("__EGL_VENDOR_LIBRARY_FILENAMES"), *dirs = getenv("__EGL_VENDOR_LIBRARY_DIRS");
    char list[4096], *state = NULL;
    bool seen = false;
    if (files) gls_text_printf(f->text, "  [ok] __EGL_VENDOR_LIBRARY_FILENAMES is set to %s\n", files);
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
            if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0) continue;
            snprintf(path, sizeof path, "%s/%s", item, entry->d_name);
            look_at_vendor(path, f);
            seen = true;
        }
        if (directory) closedir(directory);
    }
    if (!seen) gls_text_puts(f->text, "  [--] no EGL vendor file\n");
}

static bool in_container(void)
{
    return exists("/.dockerenv") || exists("/run/.containerenv") || exists("/.singularity.d") ||
           getenv("APPTAINER_NAME") || getenv("SINGULARITY_NAME") || getenv("container") ||
           getenv("KUBERNETES_SERVICE_HOST");
}

static void advise_libraries(facts *f)
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

static void advise_nvidia(facts *f)
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

char *gls_doctor_text(const gls_device_info *list, size_t n_devices)
{
    gls_text text = {0};
    facts f = {.container = in_container(), .nvidia_nodes = exists("/dev/nvidia0"), .text = &text};
    bool hardware = false;
    for (size_t i = 0; i < n_devices; i++) hardware = hardware || !list[i].software;
    gls_text_puts(f.text, "\nSystem:\n");
    look_at_pci(&f);
    look_at_vendors(&f);
    if (f.container) gls_text_puts(f.text, "  [ok] this is a container\n");
    look_at_render_nodes(&f);
    if (f.render_nodes == 0 && f.gpus > f.nvidia_gpus)
        advise(&f, "A GPU is on the bus, but there is no render node /dev/dri/renderD*.",
               f.container ? "Pass it into the container: --device /dev/dri."
                           : "Load its kernel driver (amdgpu, i915, xe, nouveau ...); some need firmware: apt-get "
                             "install firmware-linux.");
    advise_nvidia(&f);
    advise_libraries(&f);
    if (n_devices > 0 && !hardware)
        advise(&f,
               "Only a software renderer is usable: everything works, but on the CPU, many times slower than on a GPU.",
               f.gpus || f.nvidia_nodes
                   ? "The points above may bring the GPU back."
                   : "This machine shows no GPU; in a container or virtual machine one has to be passed on.");
    if (f.problems == 0) gls_text_puts(f.text, "\nNothing to mend.\n");
    return gls_text_take(&text);
}
