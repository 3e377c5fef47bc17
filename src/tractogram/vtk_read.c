/* */
#include "tractogram/reader.h"
#include "util/status.h"
static gls_status o(gls_tractogram_reader *r){return gls_fail(GLS_ERR_INPUT,"%s: VTK",r->path);}
static void c(gls_tractogram_reader *r){(void)r;}
const gls_reader_driver gls_vtk_reader={o,0,c};
