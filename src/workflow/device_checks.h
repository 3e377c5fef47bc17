/* Checks of devices with a scene whose streamlines are known. */
#ifndef GLS_WORKFLOW_DEVICE_CHECKS_H
#define GLS_WORKFLOW_DEVICE_CHECKS_H

#include <glslines/phantom.h>
#include <glslines/track.h>

/* --- What the check of a device found, kept in the user's cache folder: which mapping is the fastest that works, for
 * each driver and version. */

struct cJSON;
typedef struct gls_checked {
    struct cJSON *root, *entry;
    char path[4096]; /* "": there is no cache folder */
} gls_checked;

/* The file, with what is known of this device forgotten. */
void gls_checked_begin(gls_checked *memory, const gls_device_info *device);
/* GLS_MAPPING_AUTO: none works. */
void gls_checked_add(gls_checked *memory, const char *variant, gls_mapping mapping);
/* Writes the file; a failure is a warning. */
void gls_checked_finish(gls_checked *memory);

/* Adds what one mapping of a variant came to, and forgets nothing else. */
void gls_checked_keep(const gls_device_info *device, const char *variant, gls_mapping mapping);

/* What a getter with a model of an order is called there: "boot4" or "boot8". */
void gls_checked_name(gls_direction_getter dg, int sh_order, char *name, size_t size);
/* The mapping that was found for such a device, GLS_MAPPING_AUTO where it was not checked. sh_order: of the model. */
gls_mapping gls_checked_mapping(const gls_device_info *device, gls_direction_getter dg, int sh_order);

/* --- A small scene of which it is known what streamlines come out, however a device rounds: for the check of devices,
 * and for renderers on which nobody has tracked before. */

/* A getter on a model of an order: what kernels differ by. */
typedef struct gls_known_variant {
    const char *name; /* see gls_checked_name() */
    gls_direction_getter dg;
    int sh_order;
} gls_known_variant;
#define GLS_KNOWN_VARIANTS 16
extern const gls_known_variant gls_known_variants[GLS_KNOWN_VARIANTS];

/* A streamline: for the half that goes back from the seed and the one that goes forward, how many points it has for
 * certain, and where the last of these is, in mm of world space. */
typedef struct gls_known_line {
    uint16_t seed;
    int16_t n[2]; /* 0: nothing is certain; negative: the half ends there */
    float end[2][3];
} gls_known_line;
/* Those of a variant in order of seeds: all streamlines of each seed. */
typedef struct gls_known_lines {
    const gls_known_line *line;
    size_t n;
} gls_known_lines;
/* The variants begin with those of the first. */
#define GLS_KNOWN_ODF_VARIANTS 7
extern const gls_known_lines gls_known_lines_odf[GLS_KNOWN_ODF_VARIANTS],
    gls_known_lines_fod[GLS_KNOWN_VARIANTS - GLS_KNOWN_ODF_VARIANTS];

typedef struct gls_known_scene {
    size_t variant;
    gls_phantom *phantom;
    gls_image *stop_map, *sh, *peaks;
    gls_qball *qball;
    gls_sphere *sphere;
    gls_odf_source *odf;
    gls_seeds *seeds; /* of the known lines */
    gls_track_params params;
    gls_track_input input;
} gls_known_scene;
/* To be finished after a failure, too. */
gls_status gls_known_scene_create(size_t variant, gls_known_scene *scene);
void gls_known_scene_finish(gls_known_scene *scene);

/* What came out, of streamlines that are appended in the order of seeds; begins as {scene}. */
typedef struct gls_known_comparison {
    const gls_known_scene *scene;
    size_t next;           /* of the known lines */
    size_t same;           /* halves that are as they must be */
    _Atomic uint32_t seen; /* the last streamline was of the seed before this one */
} gls_known_comparison;
gls_status gls_known_compare(void *comparison, const gls_streamlines *found);
/* Index of the point where a streamline of a seed began, n if there is none. */
size_t gls_known_find_seed(const gls_known_scene *scene, uint32_t seed, const float (*point)[3], size_t n);
/* Halves of which something is certain, of seeds below this. */
size_t gls_known_halves(const gls_known_scene *scene, uint64_t seeds);
/* What is known holds for any rounding that was tried, so hardly any may differ. */
bool gls_known_fits(size_t same, size_t halves);

/* --- Renderers of which nothing is known track the known scene first, in the mapping that a run would have: once,
 * since what came out is kept. */

/* The mapping to take on this device for a getter with a model of an order: GLS_MAPPING_AUTO on a renderer that is
 * known, else the first that tracks right. GLS_ERR_DEVICE: none does. */
gls_status gls_self_test_mapping(gls_device *device, gls_direction_getter dg, int sh_order, gls_mapping *mapping);

#endif
