/* Which GPUs the variables CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, SLURM_STEP_GPUS and
 * SLURM_JOB_GPUS leave to this process. Each variable numbers the GPUs of a node in an order of its own, which OpenGL
 * does not know; PCI addresses connect them. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "gpu/visible.h"
#include "util/text.h"

#define MAX_GPUS 64

/* A GPU of the node, as Linux lists it. */
typedef struct gpu {
    char address[24], id[64], model[96];
    long order;    /* number by which a scheduler orders GPUs: device minor number, or node of the topology */
    bool openable; /* whether this process may open the GPU: control groups of containers and Slurm refuse all other
                      GPUs, and CUDA and ROCm do not see those GPUs */
} gpu;

/* Whether this process may open a device file for reading and writing. */
static bool can_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Orders GPUs by PCI address, for qsort(). */
static int by_address(const void *a, const void *b)
{
    return gls_case_compare(((const gpu *)a)->address, ((const gpu *)b)->address);
}

/* Orders GPUs by the order of a scheduler, for qsort(). */
static int by_order(const void *a, const void *b)
{
    long x = ((const gpu *)a)->order, y = ((const gpu *)b)->order;
    return (x > y) - (x < y);
}

/* Copies the rest of the first line that begins with "KEY:" or "KEY " from a file to value[size]. Returns false if
 * there is no such line. */
static bool find_value(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0 || (line[n] != ':' && line[n] != ' ')) continue;
        const char *at = line + n + 1;
        while (gls_is_space((unsigned char)*at)) at++;
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    if (file) fclose(file);
    return found;
}

/* Lists NVIDIA's GPUs by address. CUDA uses this order if all GPUs are equal or CUDA_DEVICE_ORDER asks for it. */
static size_t list_nvidia(const char *root, gpu *list)
{
    char path[PATH_MAX], text[96];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus", root);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) && n < MAX_GPUS;) {
        gpu *g = &list[n];
        snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/%.20s/information", root, entry->d_name);
        if (*entry->d_name == '.' || !find_value(path, "Device Minor", text, sizeof text)) continue;
        *g = (gpu){.order = strtol(text, NULL, 10)};
        snprintf(g->address, sizeof g->address, "%.20s", entry->d_name);
        find_value(path, "GPU UUID", g->id, sizeof g->id);
        find_value(path, "Model", g->model, sizeof g->model);
        snprintf(path, sizeof path, "%s/dev/nvidia%ld", root, g->order);
        g->openable = can_open(path);
        n++;
    }
    if (directory) closedir(directory);
    qsort(list, n, sizeof *list, by_address);
    return n;
}

/* Lists AMD's GPUs in the order of the topology of their compute driver. */
static size_t list_amd(const char *root, gpu *list)
{
    char path[PATH_MAX], text[96];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/sys/class/kfd/kfd/topology/nodes", root);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) && n < MAX_GPUS;) {
        unsigned long location, domain = 0;
        gpu *g = &list[n];
        snprintf(path, sizeof path, "%s/sys/class/kfd/kfd/topology/nodes/%.20s/properties", root, entry->d_name);
        if (!gls_is_digit((unsigned char)*entry->d_name) || !find_value(path, "simd_count", text, sizeof text))
            continue;
        if (strtol(text, NULL, 10) == 0 || !find_value(path, "location_id", text, sizeof text))
            continue; /* a CPU, not a GPU */
        location = strtoul(text, NULL, 10);
        if (find_value(path, "domain", text, sizeof text)) domain = strtoul(text, NULL, 10);
        *g = (gpu){.order = strtol(entry->d_name, NULL, 10)};
        snprintf(g->address, sizeof g->address, "%04lx:%02lx:%02lx.%lx", domain & 0xffff, location >> 8 & 0xff,
                 location >> 3 & 0x1f, location & 7);
        if (find_value(path, "unique_id", text, sizeof text))
            snprintf(g->id, sizeof g->id, "GPU-%016llx", strtoull(text, NULL, 10));
        if (find_value(path, "drm_render_minor", text, sizeof text)) {
            snprintf(path, sizeof path, "%s/dev/dri/renderD%ld", root, strtol(text, NULL, 10));
            g->openable = can_open(path);
        }
        n++;
    }
    if (directory) closedir(directory);
    qsort(list, n, sizeof *list, by_order);
    return n;
}

/* Chooses the GPUs that a text names: "0,2" by their index in list[], or "GPU-3f" by the beginning of their identifier.
 * Ignores entries after an invalid one, as CUDA does. Returns how many were chosen. */
static size_t choose(const gpu *list, size_t n, const char *text, gpu *chosen)
{
    size_t k = 0;
    while (*text && k < MAX_GPUS) {
        size_t length = strcspn(text, ","), i = n;
        char *end;
        unsigned long index = strtoul(text, &end, 10);
        if (end == text + length && length > 0 && gls_is_digit((unsigned char)*text)) i = index;
        for (size_t g = 0; i == n && g < n && length > 4; g++)
            if (gls_case_compare_n(list[g].id, text, length) == 0) i = g;
        if (i >= n) break;
        chosen[k++] = list[i];
        text += length;
        if (*text) text++;
    }
    return k;
}

/* Whether Slurm's list, such as "0,2-3", contains a number. Slurm numbers all GPUs of the node, also the GPUs that the
 * job cannot see. */
static bool has_number(const char *text, long number)
{
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text) return false;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        if (number >= first && number <= last) return true;
        text = *end ? end + 1 : end;
    }
    return false;
}

/* Copies the GPUs that this process may open to out[]; returns their number. */
static size_t openable(const gpu *list, size_t n, gpu *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (list[i].openable) out[k++] = list[i];
    return k;
}

/* Whether a list has a GPU at this PCI address. */
static bool has_address(const gpu *list, size_t n, const char *address)
{
    for (size_t i = 0; i < n; i++) {
        /* newer NVIDIA drivers write eight digits for the domain */
        const char *a = strchr(list[i].address, ':'), *b = strchr(address, ':');
        if (a && b && gls_case_compare(a, b) == 0 && strtoul(list[i].address, NULL, 16) == strtoul(address, NULL, 16))
            return true;
    }
    return false;
}

/* Whether the order of CUDA is known. By default the fastest GPU comes first in CUDA, and only CUDA knows which is
 * fastest if models differ. */
static bool order_is_known(const gpu *list, size_t n)
{
    const char *order = getenv("CUDA_DEVICE_ORDER");
    if (order && strcmp(order, "PCI_BUS_ID") == 0) return true;
    for (size_t i = 1; i < n; i++)
        if (strcmp(list[i].model, list[0].model) != 0) return false;
    return true;
}

/* Whether Slurm has assigned the GPU at this PCI address to the job; true if no variable of Slurm lists GPUs. by_place:
 * true: Slurm's number of a GPU is its index in list[]; false: its member `order`. *variable: the variable that
 * decided. */
static bool slurm_allows(const gpu *list, size_t n, const char *address, bool by_place, const char **variable)
{
    static const char *const names[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"};
    for (size_t v = 0; v < 2; v++) {
        const char *text = getenv(names[v]);
        if (!text || !gls_is_digit((unsigned char)*text)) continue;
        *variable = names[v];
        for (size_t i = 0; i < n; i++)
            if (has_address(&list[i], 1, address)) return has_number(text, by_place ? (long)i : list[i].order);
        return true;
    }
    return true;
}

bool gls_visible_address(const char *root, const char *address, const char **variable)
{
    gpu list[MAX_GPUS], seen[MAX_GPUS], chosen[MAX_GPUS];
    const char *text = getenv("CUDA_VISIBLE_DEVICES"), *hip = getenv("HIP_VISIBLE_DEVICES");
    size_t n = list_nvidia(root, list);
    *variable = NULL;
    /* A GPU of NVIDIA: CUDA's variable decides, else Slurm's. */
    if (has_address(list, n, address)) {
        *variable = "CUDA_VISIBLE_DEVICES";
        if (!text) return slurm_allows(list, n, address, false, variable);
        size_t k = openable(list, n, seen);
        if (strncmp(text, "MIG-", 4) == 0 || (gls_is_digit((unsigned char)*text) && !order_is_known(seen, k)))
            return true;
        return has_address(chosen, choose(seen, k, text, chosen), address);
    }
    /* A GPU of AMD: ROCm's variables decide, else Slurm's. Other GPUs are not restricted. */
    n = list_amd(root, list);
    if (!has_address(list, n, address)) return true;
    text = getenv("ROCR_VISIBLE_DEVICES");
    if (!text && !hip) return slurm_allows(list, n, address, true, variable);
    size_t k = openable(list, n, seen);
    if (text) {
        *variable = "ROCR_VISIBLE_DEVICES";
        k = choose(seen, k, text, chosen);
        memcpy(seen, chosen, k * sizeof *seen);
        if (!has_address(seen, k, address)) return false;
    }
    if (!hip) return true;
    *variable = "HIP_VISIBLE_DEVICES"; /* the indices in HIP_VISIBLE_DEVICES count only the GPUs that
                                          ROCR_VISIBLE_DEVICES leaves */
    return has_address(chosen, choose(seen, k, hip, chosen), address);
}

/* Stores the PCI address of a render node ("/dev/dri/renderD128"). Returns false if the node does not exist or has no
 * PCI address. */
static bool visible_address_of(const char *node, char *address, size_t size)
{
    struct stat info;
    char link[64], target[PATH_MAX];
    if (stat(node, &info) != 0 || !S_ISCHR(info.st_mode)) return false;
    snprintf(link, sizeof link, "/sys/dev/char/%u:%u/device", major(info.st_rdev), minor(info.st_rdev));
    if (!realpath(link, target)) return false;
    const char *name = strrchr(target, '/');
    unsigned domain, bus, device, function;
    if (!name || sscanf(name + 1, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return false;
    snprintf(address, size, "%s", name + 1);
    return true;
}

bool gls_visible_node(const char *node, const char **variable)
{
    char address[32];
    *variable = NULL;
    return !*node || !visible_address_of(node, address, sizeof address) || gls_visible_address("", address, variable);
}
