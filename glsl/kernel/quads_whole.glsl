// Loads and stores quads of the work buffer as vectors, through a second view of the buffer, which takes one more
// storage block.
layout(std430, binding = 0) buffer WorkQuads { uvec4 work_quads[]; };
// Quad i of the buffer as four floats.
vec4 load_quad(uint i) { return uintBitsToFloat(work_quads[i]); }
void store_quad(uint i, vec4 value) { work_quads[i] = floatBitsToUint(value); }
