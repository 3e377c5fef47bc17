/* What the host tells the sources of a kernel: definitions and the contents of slots, each with the reason for its
 * value, which a dump of the sources shows. */
#ifndef GLS_TRACK_SHADER_DEFINES_H
#define GLS_TRACK_SHADER_DEFINES_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/device.h>

/* Owns the texts; reasons are constants. Zeroed: empty. */
typedef struct gls_define_list {
    gls_define define[160];
    char *owned[160];
    size_t n;
    bool failed; /* memory or room ran out */
} gls_define_list;

void gls_define_int(gls_define_list *list, const char *name, int64_t value, const char *reason);
void gls_define_float(gls_define_list *list, const char *name, double value, const char *reason);
/* The text (from malloc; NULL counts as memory that ran out) as it is. */
void gls_define_text(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with text (from malloc; NULL counts as memory that ran out). */
void gls_define_slot(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with a file. */
void gls_define_file(gls_define_list *list, const char *name, const char *file, const char *reason);
/* Fills a slot with BASE_looped.glsl, whose loops any number of invocations can share, or BASE_unrolled.glsl, the same
 * written out for a single one. */
void gls_define_loops(gls_define_list *list, const char *name, const char *base, bool looped);
/* Back to the first n definitions. */
void gls_define_cut(gls_define_list *list, size_t n);
void gls_define_finish(gls_define_list *list);

/* A float literal of GLSL, with a decimal point or an exponent whatever the locale; returns text. */
const char *gls_glsl_float(double value, char text[40]);

#endif
