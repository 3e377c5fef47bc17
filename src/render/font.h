/* Letters as strokes, for labels of any size. */
#ifndef GLS_RENDER_FONT_H
#define GLS_RENDER_FONT_H

#define GLS_FONT_GLYPHS 95
/* Height of capitals, and the line on which they stand, in the units of the strokes. */
#define GLS_FONT_CAPITAL 21
#define GLS_FONT_BASE 9

extern const char *const gls_font_glyphs[GLS_FONT_GLYPHS];

#endif
