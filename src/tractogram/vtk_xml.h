/* Turns a VTK file in XML (.vtp) into a legacy VTK file, which the reader of legacy files then reads: arrays as text,
 * base64 or raw bytes, in their place or appended, and packed by zlib. */
#ifndef GLS_TRACTOGRAM_VTK_XML_H
#define GLS_TRACTOGRAM_VTK_XML_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

/* Writes the open file of the reader, a .vtp, to fd as a legacy file of version 5.1. */
gls_status gls_vtk_from_xml(gls_tractogram_reader *reader, int fd);

#endif
