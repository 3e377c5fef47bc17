/* Reads and writes large buffers through memory that host and device both see: the device copies one piece while the
 * host copies another. */
#ifndef GLS_GPU_STAGING_H
#define GLS_GPU_STAGING_H

#include <epoxy/gl.h>

#include <glslines/common.h>
#include <glslines/device.h>

/* Whether the device can have memory that host and device both see. */
bool gls_staging_offered(const gls_device *device);
/* Creates a buffer in memory that host and device both see, and maps it until it is deleted. way: GL_MAP_READ_BIT or
 * GL_MAP_WRITE_BIT, for the host. Returns NULL where there is no such memory. */
void *gls_staging_memory(GLbitfield way, size_t bytes, GLuint *name);
/* Copies bytes from or to memory that host and device both see, by several threads if there are many bytes. */
void gls_staging_copy(void *data, const uint8_t *from, size_t bytes);
/* Whether reading from a buffer of this size is faster through gls_staging_read(), and memory for it is available. The
 * device must be held. */
bool gls_staging_wanted(gls_device *device, size_t buffer_bytes);
/* Copies a range of a buffer to the host, at least one byte. The device must be held. */
gls_status gls_staging_read(gls_device *device, GLuint source, size_t offset, size_t bytes, void *data);
/* Whether writing so many bytes is faster through gls_staging_write(), and memory for it is available. The device must
 * be held. */
bool gls_staging_write_wanted(gls_device *device, size_t bytes);
/* Copies data of the host into a range of a buffer. The device must be held. */
gls_status gls_staging_write(gls_device *device, GLuint to, size_t offset, size_t bytes, const void *data);

#endif
