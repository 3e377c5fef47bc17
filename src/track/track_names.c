/* Names of ends and verdicts, from the lists that the kernels share. All texts are constants; a value out of range
 * gives "unknown". */
#include <glslines/track.h>

const char *gls_end_name(gls_end end)
{
    static const char *const names[GLS_END_COUNT] = {
#define GLS_END_ROW(symbol, value, name, keeps) [value] = #name,
#include <glslines/ends.def>
#undef GLS_END_ROW
    };
    return (unsigned)end < GLS_END_COUNT ? names[end] : "unknown";
}

const char *gls_verdict_name(gls_verdict verdict)
{
    static const char *const names[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, ...) [value] = #name,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return (unsigned)verdict < GLS_VERDICT_COUNT ? names[verdict] : "unknown";
}

const char *gls_verdict_words(gls_verdict verdict)
{
    static const char *const words[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, first, words) [value] = #words,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return (unsigned)verdict < GLS_VERDICT_COUNT ? words[verdict] : "unknown";
}
