/* Cameras: their axes, letters of orientation, and scale. */
#include "render/scene.h"

#include <math.h>
#include <string.h>

#include "util/maths.h"

/* Views by the position of the viewer; right x up = toward, in world axes (right, anterior, superior). */
static const struct {
    const char *name;
    double right[3], up[3], toward[3];
} stands[] = {
    {"superior", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},   {"inferior", {-1, 0, 0}, {0, 1, 0}, {0, 0, -1}},
    {"posterior", {1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {"anterior", {-1, 0, 0}, {0, 0, 1}, {0, 1, 0}},
    {"left", {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}},     {"right", {0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
};

bool gls_camera_stand(gls_camera *camera, const char *name)
{
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++) {
        if (strcmp(name, stands[i].name) != 0) continue;
        memcpy(camera->right, stands[i].right, sizeof camera->right);
        memcpy(camera->up, stands[i].up, sizeof camera->up);
        memcpy(camera->toward, stands[i].toward, sizeof camera->toward);
        return true;
    }
    return false;
}

double gls_camera_fit(const gls_camera *camera, const gls_box *box, double margin)
{
    double wide = 0, tall = 0;
    /* size of the box as the camera sees it */
    for (int a = 0; a < 3; a++) {
        double size = box->high[a] - box->low[a];
        wide += fabs(camera->right[a]) * size;
        tall += fabs(camera->up[a]) * size;
    }
    /* at least 8 pixels, however large the margin */
    double x = fmax(camera->width - 2 * margin, 8), y = fmax(camera->height - 2 * margin, 8);
    return fmin(x / fmax(wide, 1e-3), y / fmax(tall, 1e-3));
}

void gls_box_of_grid(const gls_grid *grid, gls_box *box)
{
    for (int corner = 0; corner < 8; corner++) {
        double p[3], w[3];
        /* corners of voxels lie half a voxel outside their centres */
        for (int a = 0; a < 3; a++) p[a] = corner >> a & 1 ? grid->dim[a] - 0.5 : -0.5;
        gls_affine_apply(grid->affine, p, w);
        for (int a = 0; a < 3; a++) {
            box->low[a] = corner == 0 ? w[a] : fmin(box->low[a], w[a]);
            box->high[a] = corner == 0 ? w[a] : fmax(box->high[a], w[a]);
        }
    }
}
