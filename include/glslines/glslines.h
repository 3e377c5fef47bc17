/* glslines: diffusion MRI tractography in OpenGL compute shaders. Includes the whole public interface.
 *
 * Usage, errors left out:
 *
 *     gls_image *dwi, *roi, *fa;  gls_gradients *gradients;  gls_qball *model;  gls_sphere *sphere;  gls_seeds *seeds;
 *     gls_device *device;  gls_tracker *tracker;  gls_track_result result;  gls_tractogram_writer *writer;
 *     double space[3][4];
 *     gls_image_read("dwi.nii.gz", GLS_IMAGE_4D, &dwi);
 *     gls_image_read("roi.nii.gz", GLS_IMAGE_3D, &roi);
 *     gls_gradients_read("dwi.bval", "dwi.bvec", NULL, &dwi->grid, dwi->n_volumes, &gradients);
 *     gls_tensor_fit(dwi, gradients, NULL, NULL, &fa, NULL, NULL);
 *     gls_qball_create(gradients, NULL, false, &model);
 *     gls_sphere_create("default", &sphere);
 *     gls_seeds_create_random(roi, NULL, 100000, 0, &seeds);
 *     gls_device_open("auto", NULL, &device);
 *     gls_track_params params = gls_track_params_default();
 *     params.step_size = 0.5 * dwi->grid.voxel_size[0];
 *     gls_track_input input = {.dwi = dwi, .gradients = gradients, .qball = model, .stop_map = fa, .sphere = sphere};
 *     gls_tracker_create(device, &params, &input, &tracker);
 *     gls_tractogram_space(GLS_FORMAT_TRX, &dwi->grid, space);
 *     gls_tractogram_writer_create("out.trx", GLS_FORMAT_TRX, &dwi->grid, NULL, &writer);
 *     gls_tracker_run(tracker, seeds, space, append, writer, NULL, NULL, &result);
 *     // append() calls gls_tractogram_writer_append()
 *     gls_tractogram_writer_finish(writer);
 */
#ifndef GLSLINES_H
#define GLSLINES_H

#include <glslines/common.h>
#include <glslines/compute.h>
#include <glslines/csd.h>
#include <glslines/device.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/log.h>
#include <glslines/merge.h>
#include <glslines/msmt.h>
#include <glslines/normalise.h>
#include <glslines/odf.h>
#include <glslines/peaks.h>
#include <glslines/phantom.h>
#include <glslines/qball.h>
#include <glslines/responses.h>
#include <glslines/score.h>
#include <glslines/seeds.h>
#include <glslines/sh.h>
#include <glslines/shard.h>
#include <glslines/sphere.h>
#include <glslines/tensor.h>
#include <glslines/track.h>
#include <glslines/tractogram.h>

#endif
