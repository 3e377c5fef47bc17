/* The check of a device: what its driver makes of the kernels of every getter, and whether it computes right. */
#ifndef GLS_BENCH_CHECK_H
#define GLS_BENCH_CHECK_H

#include <glslines/track.h>

/* A getter on a model of an order: what kernels differ by. */
typedef struct check_variant {
    const char *name;
    gls_direction_getter dg;
    int sh_order;
} check_variant;
#define CHECK_VARIANTS 7
extern const check_variant check_variants[CHECK_VARIANTS];

/* A streamline of the known scene: seed, points, first and last point in mm of the grid's world space. */
typedef struct check_line {
    uint16_t seed, n_points;
    float end[2][3];
} check_line;
/* Those of a variant, in order of seeds. */
typedef struct check_expected {
    const check_line *line;
    size_t n;
} check_expected;
extern const check_expected check_scene_lines[CHECK_VARIANTS];

typedef struct check_options {
    const char *device;
    gls_graphics api;
    bool compile_only;
    double seconds; /* that a variant may take */
} check_options;

/* Every variant in every mapping, each in a process of its own, so that a driver that crashes or hangs is told of.
 * GLS_ERR_DEVICE: a getter works in no mapping. */
gls_status check_device(const check_options *options);

/* One of them in this process, "boot4:subgroup"; what is found goes to standard output, for check_device(): "kernel",
 * "tracked" and "error" lines, with tabs. "lines:boot4:single" prints the streamlines themselves. */
gls_status check_one(const check_options *options, const char *what);

#endif
