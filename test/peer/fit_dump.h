/* Subcommands of fit_dump that live in files of their own. */
#ifndef GLS_TEST_FIT_DUMP_H
#define GLS_TEST_FIT_DUMP_H

#include <glslines/csd.h>
#include <glslines/glslines.h>

/* csd DWI BVAL BVEC MASK|- RESPONSE|auto[:FA] ORDER OUTPREFIX [SPHERE|small [BVAL]]: OUTPREFIX_sh.nii, _response.txt, _zonal.txt; vectors as they are. */
gls_status dump_csd(int argc, char **argv);

#endif
