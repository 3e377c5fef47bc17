/* glslines: diffusion MRI tractography in OpenGL compute shaders. Includes the whole public interface.
 *
 * From files to a tractogram with its sidecar, as `glslines track` does (<glslines/workflow.h>):
 *
 *     gls_job_options options = gls_job_options_default();
 *     options.dwi = "dwi.nii.gz";
 *     options.bval = "dwi.bval";
 *     options.bvec = "dwi.bvec";
 *     options.mask = "mask.nii.gz";
 *     options.roi = "wm.nii.gz";
 *     options.output = "tracks.trx";
 *     const char *given[] = {"mask", "roi", "output", NULL};
 *     options.given = given;
 *     if (gls_track_files(&options, NULL, NULL) != GLS_OK) fprintf(stderr, "%s\n", gls_last_error());
 *
 * The other headers have the parts that this is made of: images, gradients, models, seeds, the tracker, writers.
 *
 * Threads: functions on different objects may run at once; one object is used by one thread at a time unless its header
 * says otherwise. Errors are kept by thread (gls_last_error()); the log callback is one for the process. Environment
 * variables that the library reads are listed in src/doc/environment.md.
 */
#ifndef GLSLINES_GLSLINES_H
#define GLSLINES_GLSLINES_H

#include <glslines/abi.h>
#include <glslines/common.h>
#include <glslines/bundles.h>
#include <glslines/clusters.h>
#include <glslines/compute.h>
#include <glslines/connectome.h>
#include <glslines/csd.h>
#include <glslines/density.h>
#include <glslines/device.h>
#include <glslines/filters.h>
#include <glslines/fixels.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/labels.h>
#include <glslines/log.h>
#include <glslines/merge.h>
#include <glslines/msmt.h>
#include <glslines/neighbours.h>
#include <glslines/normalise.h>
#include <glslines/odf.h>
#include <glslines/peaks.h>
#include <glslines/phantom.h>
#include <glslines/qball.h>
#include <glslines/recobundles.h>
#include <glslines/recognition.h>
#include <glslines/render.h>
#include <glslines/report.h>
#include <glslines/responses.h>
#include <glslines/sample.h>
#include <glslines/score.h>
#include <glslines/select.h>
#include <glslines/seeds.h>
#include <glslines/sh.h>
#include <glslines/shard.h>
#include <glslines/slr.h>
#include <glslines/sphere.h>
#include <glslines/streamlines.h>
#include <glslines/summary.h>
#include <glslines/tensor.h>
#include <glslines/tissue.h>
#include <glslines/track.h>
#include <glslines/tractogram.h>
#include <glslines/type.h>
#include <glslines/weights.h>
#include <glslines/workflow.h>

#endif
