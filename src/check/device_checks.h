/* Checks of devices on a scene whose streamlines are known, the stored results of such checks, and the diagnosis if no
 * usable device is found. */
#ifndef GLS_CHECK_DEVICE_CHECKS_H
#define GLS_CHECK_DEVICE_CHECKS_H

#include <glslines/phantom.h>
#include <glslines/tissue.h>
#include <glslines/track.h>

/* --- The results of checks, kept in a file of the user's cache folder: for each device with its driver, and each
 * variant (see gls_known_variant), a gls_mapping that works; GLS_MAPPING_AUTO if none does. `glslines devices --check`
 * stores the fastest mapping, the first run on an unknown renderer the first that works. */

struct cJSON;
/* The file of checked devices, with the results of earlier checks. Free with gls_checked_finish(). */
typedef struct gls_checked {
    /* contents of the file; the entry of this device, borrowed from root */
    struct cJSON *root, *entry;
    char path[4096]; /* the file of results; "": there is no cache folder */
} gls_checked;

/* Reads the file into memory. Drops the results for this device, which are to be found anew. */
void gls_checked_begin(gls_checked *memory, const gls_device_info *device);
/* Adds the result for a variant: a mapping that works; GLS_MAPPING_AUTO: none works. */
void gls_checked_add(gls_checked *memory, const char *variant, gls_mapping mapping);
/* Writes the file, if there is a cache folder, and frees the results. A failure is only a warning. */
void gls_checked_finish(gls_checked *memory);

/* The stored mapping for this device and getter. GLS_MAPPING_AUTO: none is stored, or none that the device supports.
 * sh_order: order of the model's spherical harmonics. */
gls_mapping gls_checked_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order);
/* Like gls_checked_mapping(), for the parameters of a run. */
gls_mapping gls_checked_mapping_of(const gls_device_info *device, const gls_track_params *params, int sh_order);

/* --- The list of devices. */

/* Name of a mapping; for AUTO, of the mapping that the device gets. *lanes: invocations for each streamline. */
const char *gls_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes);
/* Lists n devices with their limits, and the drivers that failed, as lines of text. From malloc; NULL: out of memory.
 */
char *gls_devices_text(const gls_device_info *list, size_t n);
/* Like gls_devices_text(), as JSON, with sizes in bytes. */
char *gls_devices_json(const gls_device_info *list, size_t n);

/* --- A small scene whose streamlines are known whatever way a device rounds. The check of devices tracks it, and so
 * does the first run on a renderer that glslines does not know. */

/* A getter with a model of one order, or particle filtering. Each variant has kernels of its own. */
typedef struct gls_known_variant {
    const char *name; /* such as "boot4" or "boot8" (getter and order), "ifod2" or "pft" */
    gls_direction_getter dg;
    /* order of the spherical harmonics, 4 or 8; boot, prob and det have kernels for each */
    int sh_order;
    /* true: particle filtering instead of plain tracking */
    bool pft;
} gls_known_variant;
/* Number of rows of gls_known_variants. */
#define GLS_KNOWN_VARIANTS 19
extern const gls_known_variant gls_known_variants[GLS_KNOWN_VARIANTS];

/* A known streamline: first the index of its seed in gls_known_scene.seeds. Then for its half-streamlines backward and
 * forward from the seed the number of certain points after the seed, which are the same under any rounding; 0: none;
 * negative: there are -n, and the last one is the end of the half-streamline. Then x, y, z of the last certain point of
 * each half-streamline, um of world space. */
typedef int32_t gls_known_line[9];
/* gls_known_lines: the streamlines of the first variant in the order of seeds, then those of the second, and so on.
 * gls_known_line_counts: how many each variant has. */
extern const gls_known_line gls_known_lines[];
extern const uint16_t gls_known_line_counts[GLS_KNOWN_VARIANTS];

/* A small scene and everything that is needed to track it. Owned. */
typedef struct gls_known_scene {
    /* index in gls_known_variants */
    size_t variant;
    /* phantom from which the images come */
    gls_phantom *phantom;
    /* sh and peaks are NULL where the variant does not need them, and so are qball, odf and tissue below; stop_map and
     * sphere are always set */
    gls_image *stop_map, *sh, *peaks;
    /* q-ball model for the bootstrap */
    gls_qball *qball;
    /* directions of the ODFs */
    gls_sphere *sphere;
    /* ODFs that are tracked */
    gls_odf_source *odf;
    /* tissue that ends streamlines */
    gls_tissue *tissue;
    gls_seeds *seeds; /* seeds of the known lines */
    gls_track_params params;
    /* points to the members above */
    gls_track_input input;
} gls_known_scene;
/* Makes the scene of a variant. Call gls_known_scene_finish() also after a failure. */
gls_status gls_known_scene_create(size_t variant, gls_known_scene *scene);
/* Frees the scene. */
void gls_known_scene_finish(gls_known_scene *scene);

/* Result of comparing streamlines that arrive in the order of seeds. Before the comparison set only `scene`. */
typedef struct gls_known_comparison {
    /* the scene that is tracked */
    const gls_known_scene *scene;
    size_t next;           /* position in the known lines */
    size_t same;           /* number of half-streamlines that agree with the known half-streamlines */
    _Atomic uint32_t seen; /* 1 + index of the seed of the last streamline; 0: none yet */
} gls_known_comparison;
/* The append function of a sink. comparison: a gls_known_comparison. */
gls_status gls_known_compare(void *comparison, const gls_streamlines *found);
/* Index of the seed among the n points of a streamline; n: no point is the seed. */
size_t gls_known_find_seed(const gls_known_scene *scene, uint32_t seed, const float (*point)[3], size_t n);
/* Number of known half-streamlines of the seeds with indices below `seeds` that have at least one certain point. */
size_t gls_known_halves(const gls_known_scene *scene, uint64_t seeds);
/* Whether enough half-streamlines agree: `same` of `halves` known ones. The known points stayed the same under every
 * rounding that was tried, so few half-streamlines may differ. */
bool gls_known_fits(size_t same, size_t halves);

/* --- Diagnosis for a machine on which no device, or an unexpected one, is found. */

/* Callback of the type gls_device_finding. user: the report, a JSON object. */
void gls_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report: what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* The part of the report that says where devices were searched, as text. From malloc; NULL: out of memory. */
char *gls_doctor_search_text(const struct cJSON *report);
/* The report as text, without the part of gls_doctor_search_text(). From malloc; NULL: out of memory. */
char *gls_doctor_text(const struct cJSON *report);

#endif
