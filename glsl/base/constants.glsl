// Numbers and names that host and shaders share.
#define CONSTANT(name, value) const uint name = value;
#include "layout/constants.def"
#undef CONSTANT
#define GLS_END_ROW(symbol, value, name, keeps) const uint symbol = uint(value);
#include "glslines/ends.def"
#undef GLS_END_ROW

// Whether a half-streamline with this end keeps the point at which it ended.
bool end_keeps_point(uint end)
{
#define GLS_END_ROW(symbol, value, name, keeps) if (end == symbol) return keeps != 0;
#include "glslines/ends.def"
#undef GLS_END_ROW
    return false;
}
