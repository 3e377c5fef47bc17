// What text that is GLSL and C at once calls by other names.
#define F(x) x
#define FUNCTION
#define INT(x) int(x)
#define UINT(x) uint(x)
#define FLOAT(x) float(x)
#if defined(GL_ES) && __VERSION__ < 320
#define EXACT
#else
#define EXACT precise
#endif
