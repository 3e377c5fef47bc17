// Quads of the work buffer as single loads, through a second view of the buffer, which takes a storage block more.
layout(std430, binding = 0) buffer WorkQuads { uvec4 work_quads[]; };
// Quad i of the buffer as four floats.
vec4 load_quad(uint i) { return uintBitsToFloat(work_quads[i]); }
void store_quad(uint i, vec4 value) { work_quads[i] = floatBitsToUint(value); }
