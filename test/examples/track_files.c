/* Tracks from files to a tractogram, as `glslines track` does with the same inputs and options.
 * Usage: track_files DWI BVAL BVEC MASK ROI OUTPUT [DEVICE [SEEDS]] */
#include <glslines/glslines.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 7) {
        fprintf(stderr, "usage: %s DWI BVAL BVEC MASK ROI OUTPUT [DEVICE [SEEDS]]\n", argv[0]);
        return 2;
    }
    gls_job_options options = gls_job_options_default();
    options.dwi = argv[1];
    options.bval = argv[2];
    options.bvec = argv[3];
    options.mask = argv[4];
    options.roi = argv[5];
    options.output = argv[6];
    if (argc > 7) options.device = argv[7];
    if (argc > 8) options.nseeds = strtoull(argv[8], NULL, 10);
    /* the other options get the defaults of the program */
    const char *given[] = {"mask", "roi", "output", argc > 7 ? "device" : NULL, argc > 8 ? "nseeds" : NULL, NULL};
    options.given = given;
    gls_job_result result;
    if (gls_track_files(&options, NULL, &result) != GLS_OK) {
        fprintf(stderr, "%s\n", gls_last_error());
        return 1;
    }
    printf("%llu streamlines of %.1f mm on average\n", (unsigned long long)result.track.streamlines,
           result.track.mean_length);
    return 0;
}
