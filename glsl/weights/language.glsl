// Definitions by which text that is both GLSL and C becomes GLSL. F() and D() mark numbers of single and double
// precision.
#define F(x) x
#define D(x) double(x)
#define FUNCTION
#define INT(x) int(x)
#define UINT(x) uint(x)
#define FLOAT(x) float(x)
#define DOUBLE(x) double(x)
#if defined GL_ES && __VERSION__ < 320
#define EXACT // GLSL has no such keyword
#else
#define EXACT precise
#endif
#define from_words(low, high) packDouble2x32(uvec2(low, high))
#define high_word(x) unpackDouble2x32(x).y
