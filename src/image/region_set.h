/* Inside of <glslines/regions.h>: regions as a device looks them up. */
#ifndef GLS_IMAGE_REGIONS_H
#define GLS_IMAGE_REGIONS_H

#include <glslines/regions.h>

/* Where streamlines are looked up, and what of the role regions.def says besides. */
typedef enum gls_region_place { GLS_REGION_POINTS, GLS_REGION_BORDER, GLS_REGION_ENDS } gls_region_place;
typedef struct gls_region_kind {
    const char *option;
    bool apart; /* each region has a bit of its own */
    gls_region_place place;
    bool needed;
} gls_region_kind;
const gls_region_kind *gls_region_kind_of(gls_region_role role);
/* The bits of all roles of a place. */
uint32_t gls_regions_bits_of_place(const gls_regions *regions, gls_region_place place);

/* All image regions of one grid: a word a voxel, with a bit for each region. */
typedef struct gls_region_group {
    gls_grid grid;
    uint32_t *voxel; /* of the whole grid; NULL once the set is complete */
    /* of a complete set: */
    int32_t origin[3], size[3]; /* the box of voxels that are in a region */
    float map[3][4];            /* voxel coordinates of the run to those of the box */
    size_t first;               /* word of the store */
} gls_region_group;

typedef struct gls_region_sphere {
    double centre[3], radius; /* world mm */
    uint32_t bits;
} gls_region_sphere;

typedef struct gls_region {
    gls_region_info info;
    char *text;
    size_t group;                    /* SIZE_MAX: none */
    const gls_region_sphere *sphere; /* NULL: none */
} gls_region;

struct gls_regions {
    gls_grid grid;
    gls_region *region;
    size_t n;
    gls_region_group group[GLS_REGION_MAX_GRIDS];
    size_t n_groups;
    gls_region_sphere sphere[GLS_REGION_MAX_SPHERES];
    size_t n_spheres;
    uint32_t n_bits, role_bits[GLS_REGION_ROLES];
    bool complete;
    float world[3][4]; /* the grid's affine */
    uint32_t *store;   /* the boxes of all groups, one after the other, x fastest */
    size_t n_words;
};

/* One region of its own: some voxels of a grid, or a sphere. */
typedef struct gls_region_area {
    uint8_t *inside; /* a byte for each voxel of the grid; NULL: a sphere */
    gls_grid grid;
    uint64_t voxels; /* those inside */
    bool is_graded;  /* some values of the image lie between 0 and 1 */
    gls_region_sphere sphere;
} gls_region_area;
/* Reads a region given as text, see gls_regions_add(); option names it in messages. area is to be finished even after
 * a failure. */
gls_status gls_region_area_read(const char *option, const char *text, gls_region_area *area);
/* The voxels > 0 of an image. */
gls_status gls_region_area_mark(const char *option, const gls_image *image, const char *name, gls_region_area *area);
/* Adds the voxels whose centre is within mm of the centre of one inside; a sphere's radius grows by mm. */
gls_status gls_region_area_widen(gls_region_area *area, double mm);
/* For each voxel of the grid the square of the distance, mm, of its centre from the nearest one inside; from malloc.
 * Not of a sphere. */
gls_status gls_region_area_distances(const gls_region_area *area, double **square);
/* Whether a voxel at this square of a distance is one that gls_region_area_widen() adds. */
bool gls_region_is_within(double square, double mm);
/* World mm: the mean of the centres of its voxels, or the sphere's centre. */
void gls_region_area_centre(const gls_region_area *area, double centre[3]);
/* Its two largest blobs of voxels that share faces, edges or corners, the one further left, back or down along the axis
 * that parts them most first. GLS_ERR_INPUT: there is only one, or it is a sphere. */
gls_status gls_region_area_split(const gls_region_area *area, const char *name, gls_region_area blob[2]);
/* inverse: world to voxels of the area's grid. */
bool gls_region_area_has(const gls_region_area *area, const double inverse[3][4], const double world[3]);
void gls_region_area_finish(gls_region_area *area);

/* The voxel nearest to p, voxel coordinates; false: outside. */
bool gls_region_voxel_at(const gls_grid *grid, const double p[3], size_t *voxel);
/* Voxel coordinates of a voxel. */
void gls_region_centre(const gls_grid *grid, size_t voxel, double p[3]);

/* World mm: the mean of the centres of a region's voxels, or of a sphere its centre. */
gls_status gls_region_centre_of(const char *option, const char *text, double centre[3]);

/* Labels of an image, as ranges. */
typedef struct gls_label_range {
    uint32_t first, last;
} gls_label_range;
#define GLS_REGION_MAX_RANGES 256

/* The text of a region, taken apart. */
typedef struct gls_region_text {
    bool is_sphere;
    double number[4];
    char *path; /* of an image; from malloc */
    gls_label_range range[GLS_REGION_MAX_RANGES];
    size_t n_ranges; /* 0: all voxels > 0 */
} gls_region_text;
/* GLS_ERR_ARGUMENT for what cannot be one; option names it in messages. */
gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *parsed);

#endif
