/* Subcommands of fit_dump that live in files of their own. */
#ifndef GLS_TEST_FIT_DUMP_H
#define GLS_TEST_FIT_DUMP_H

#include <glslines/glslines.h>

/* csd DWI BVAL BVEC MASK|- RESPONSE|auto[:FA] ORDER OUTPREFIX [SPHERE|small [BVAL]]: OUTPREFIX_sh.nii, _response.txt,
 * _zonal.txt; vectors as they are. */
gls_status dump_csd(int argc, char **argv);
/* sh IMAGE BASIS FRAME SPHERE|default|small OUTPREFIX: OUTPREFIX_odf.nii, _vertices.txt; not clipped. */
gls_status dump_sh(int argc, char **argv);
/* amplitudes IMAGE DIRECTIONS FRAME OUTPREFIX: as before. */
gls_status dump_amplitudes(int argc, char **argv);
/* convert IMAGE BASIS FRAME BASIS FRAME OUT. */
gls_status dump_convert(int argc, char **argv);

/* msmt DWI BVAL BVEC MASK|- OUTPREFIX DIRECTIONS|- ORDER RESPONSE..: OUTPREFIX_0.nii .. for MRtrix3, FSL's vectors. */
gls_status dump_msmt(int argc, char **argv);

/* responses DWI BVAL BVEC MASK dhollander|fa|tournier OUTPREFIX [DIRECTIONS [ERODE]]: OUTPREFIX_0.txt .., _voxels.nii.
 */
gls_status dump_responses(int argc, char **argv);

/* normalise MASK OUTPREFIX TISSUE..: OUTPREFIX_field.nii, _0.nii ..; prints the scale and the balance factors. */
gls_status dump_normalise(int argc, char **argv);
/* mask DWI BVAL BVEC OUT. */
gls_status dump_mask(int argc, char **argv);

#endif
