/* Regions inside the library, for <glslines/regions.h>: the set of a run as devices look it up, and single regions. */
#ifndef GLS_IMAGE_REGIONS_H
#define GLS_IMAGE_REGIONS_H

#include <glslines/regions.h>

/* Which points of a streamline are looked up, and what else regions.def says about a role. */
typedef enum gls_region_where {
    GLS_REGION_POINTS,
    GLS_REGION_BORDER,
    GLS_REGION_ENDS,
    GLS_REGION_FILTERS /* not in tracking */
} gls_region_where;
typedef struct gls_region_kind {
    const char *option;
    bool apart; /* each region has a bit of its own, else all regions of the role share one */
    gls_region_where where;
    bool needed;
} gls_region_kind;
/* What regions.def says about a role. */
const gls_region_kind *gls_region_kind_of(gls_region_role role);
/* Bits of all roles that are looked up there. */
uint32_t gls_regions_bits_of_place(const gls_regions *regions, gls_region_where where);

/* Whether a streamline whose ends lie in the regions of bits a and b fits the roles that look at ends. role_bits: bits
 * of each role; GLS_REGION_INCLUDE_END has two at most. */
bool gls_region_ends_fit(const uint32_t role_bits[GLS_REGION_ROLES], uint32_t a, uint32_t b);

/* The regions on one grid, as a device looks them up: one word a voxel, with a bit for each region. */
typedef struct gls_region_group {
    gls_grid grid;
    int32_t origin[3], size[3]; /* box of the voxels that are in a region */
    float map[3][4];            /* from voxel coordinates of the run to those of the box */
    size_t first;               /* index of the group's first word in the words of the set */
} gls_region_group;

typedef struct gls_region_sphere {
    double centre[3], radius; /* world mm */
    uint32_t bits;
} gls_region_sphere;

typedef struct gls_region {
    gls_region_info info;
    char *text;
    size_t place; /* in the store */
    size_t index; /* of a complete set: of the region's group, or of its sphere */
} gls_region;

struct gls_regions {
    gls_grid grid;
    gls_region *region;
    size_t n, n_groups, n_spheres;
    uint32_t n_bits, role_bits[GLS_REGION_ROLES];
    float world[3][4];              /* affine of the run's grid */
    struct gls_region_store *store; /* NULL once the set is complete */
    /* Of a complete set: */
    gls_region_group group[GLS_REGION_MAX_GRIDS];
    gls_region_sphere sphere[GLS_REGION_MAX_SPHERES];
    uint32_t *word; /* words of the boxes of all groups, one after the other, x fastest */
    size_t n_words;
};

/* A single region: voxels of a grid, or a sphere. */
typedef struct gls_region_area {
    uint8_t *inside; /* 1 for voxels of the region, one byte for each voxel of the grid; NULL: a sphere */
    gls_grid grid;
    uint64_t voxels; /* number of voxels in the region */
    bool is_graded;  /* some values of the image lie between 0 and 1, so that it may not be a mask */
    gls_region_sphere sphere;
} gls_region_area;
/* Reads a region from its text, see gls_regions_add(). option: for messages. Call gls_region_area_finish() even after a
 * failure. */
gls_status gls_region_area_read(const char *option, const char *text, gls_region_area *area);
/* Makes a region of the voxels > 0 of an image. */
gls_status gls_region_area_mark(const char *option, const gls_image *image, const char *name, gls_region_area *area);
/* Widens a region by mm: adds voxels whose centre is that near to the centre of one of its voxels; increases the radius
 * of a sphere. */
gls_status gls_region_area_widen(gls_region_area *area, double mm);
/* For each voxel of the grid the squared distance, in mm, of its centre to that of the nearest voxel of the region;
 * from malloc. Not for spheres. */
gls_status gls_region_area_distances(const gls_region_area *area, double **square);
/* Whether gls_region_area_widen() adds a voxel at this squared distance. */
bool gls_region_is_within(double square, double mm);
/* Centre of a region, world mm: mean of its voxel centres, or the centre of the sphere. */
void gls_region_area_centre(const gls_region_area *area, double centre[3]);
/* Splits a region into its two largest blobs of voxels that share faces, edges or corners. Order: along the axis on
 * which the blobs lie furthest apart, the left, posterior or inferior one first. GLS_ERR_INPUT: fewer than two blobs,
 * or a sphere. */
gls_status gls_region_area_split(const gls_region_area *area, const char *name, gls_region_area blob[2]);
/* Frees the voxels of the region. */
void gls_region_area_finish(gls_region_area *area);

/* Index of the voxel nearest to p, in voxel coordinates. Returns false outside the grid. */
bool gls_region_voxel_at(const gls_grid *grid, const double p[3], size_t *voxel);
/* Voxel coordinates of the voxel with this index. */
void gls_region_centre(const gls_grid *grid, size_t voxel, double p[3]);

/* Reads a region and returns its centre, world mm, like gls_region_area_centre(). */
gls_status gls_region_centre_of(const char *option, const char *text, double centre[3]);

/* A range of labels of an image. */
typedef struct gls_label_range {
    uint32_t first, last;
} gls_label_range;
#define GLS_REGION_MAX_RANGES 256

/* The parts of a region's text. */
typedef struct gls_region_text {
    bool is_sphere;
    double number[4];
    char *path; /* path of an image; from malloc */
    gls_label_range range[GLS_REGION_MAX_RANGES];
    size_t n_ranges; /* 0: the region is all voxels > 0 */
} gls_region_text;
/* Splits the text of a region. GLS_ERR_ARGUMENT for an invalid text. option: for messages. */
gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *parsed);

#endif
