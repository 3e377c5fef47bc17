// How a streamline passes from voxel to voxel, as MRtrix3 maps it: upsampled along a cubic through its points, and cut
// where that leaves a voxel, which bisection finds. Coordinates are those of the grid, where a voxel has the side 1;
// lengths are mm. The kernel (weights/map.comp) and the CPU (src/weights/walk.c) share this text, which is GLSL and C
// at once, and give the same bytes: EXACT keeps compilers from fusing sums and products, and there is no division and
// no square root, which drivers round in ways of their own.

struct Spot {
    float x, y, z;
};
struct Cell {
    int x, y, z;
};
// A place among four points a, b, c, d, between b and c: b and these shares of what leads from it to the others.
struct Blend {
    float a, c, d;
};
// Where a curve leaves a voxel: the first place found outside, its voxel, and where along the curve the search ended.
struct Exit {
    Spot leave;
    Cell next;
    float at;
};

// A Hermite cubic of tension 0.1, or a straight line, at p = 0 .. 1 from b to c.
FUNCTION Blend blend_at(GRID_PARAMETER float p)
{
    EXACT Blend w;
    EXACT float p2 = p * p, p3 = p2 * p;
    w.a = STRAIGHT ? F(0.0) : F(0.45) * (F(2.0) * p2 - p3 - p);
    w.c = STRAIGHT ? p : F(2.1) * p2 + F(0.45) * p - F(1.55) * p3;
    w.d = STRAIGHT ? F(0.0) : F(0.45) * (p3 - p2);
    return w;
}

FUNCTION Spot blend(Blend w, Spot a, Spot b, Spot c, Spot d)
{
    EXACT Spot s;
    s.x = b.x + (w.a * (a.x - b.x) + w.c * (c.x - b.x) + w.d * (d.x - b.x));
    s.y = b.y + (w.a * (a.y - b.y) + w.c * (c.y - b.y) + w.d * (d.y - b.y));
    s.z = b.z + (w.a * (a.z - b.z) + w.c * (c.z - b.z) + w.d * (d.z - b.z));
    return s;
}

// b mirrored at a
FUNCTION Spot mirrored(Spot a, Spot b)
{
    EXACT Spot s;
    s.x = F(2.0) * a.x - b.x;
    s.y = F(2.0) * a.y - b.y;
    s.z = F(2.0) * a.z - b.z;
    return s;
}

FUNCTION int floor_of(float x)
{
    x = x < F(-1.0e9) ? F(-1.0e9) : x;
    x = x > F(1.0e9) ? F(1.0e9) : x;
    int i = INT(x);
    return x < FLOAT(i) ? i - 1 : i;
}

FUNCTION Cell cell_of(Spot s)
{
    Cell c;
    c.x = floor_of(s.x + F(0.5));
    c.y = floor_of(s.y + F(0.5));
    c.z = floor_of(s.z + F(0.5));
    return c;
}

FUNCTION bool same_cell(Cell a, Cell b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// From scanner coordinates.
FUNCTION Spot spot_of(GRID_PARAMETER float x, float y, float z)
{
    EXACT Spot s;
    s.x = TO_GRID(0, 0) * x + TO_GRID(0, 1) * y + TO_GRID(0, 2) * z + TO_GRID(0, 3);
    s.y = TO_GRID(1, 0) * x + TO_GRID(1, 1) * y + TO_GRID(1, 2) * z + TO_GRID(1, 3);
    s.z = TO_GRID(2, 0) * x + TO_GRID(2, 1) * y + TO_GRID(2, 2) * z + TO_GRID(2, 3);
    return s;
}

FUNCTION float square_distance(GRID_PARAMETER Spot a, Spot b)
{
    EXACT float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    EXACT float along = METRIC(0) * (x * x) + METRIC(1) * (y * y) + METRIC(2) * (z * z);
    EXACT float across = METRIC(3) * (x * y) + METRIC(4) * (x * z) + METRIC(5) * (y * z);
    return along + across;
}

// The square root of what is not negative, by Newton's method from the bits of the exponent.
FUNCTION float root(float x)
{
    EXACT float y = intBitsToFloat(1597463007 - (floatBitsToInt(x) >> 1)), h = F(0.5) * x;
    y = y * (F(1.5) - h * y * y);
    y = y * (F(1.5) - h * y * y);
    y = y * (F(1.5) - h * y * y);
    y = x * y;
    return x > F(1.0e-30) ? y : F(0.0);
}

FUNCTION float distance_of(GRID_PARAMETER Spot a, Spot b)
{
    return root(square_distance(GRID a, b));
}

// Where the curve from b to c, entered at `from`, `at` of the way, leaves the voxel `cell`; last: the voxel of c.
FUNCTION Exit find_exit(GRID_PARAMETER Spot a, Spot b, Spot c, Spot d, Cell cell, Cell last, Spot from, float at)
{
    Exit e;
    Spot inside = from;
    float low = at, high = F(1.0);
    e.leave = c;
    e.next = last;
    e.at = at;
    for (int k = 0; k < 32 && square_distance(GRID inside, e.leave) > PRECISION; k++) {
        e.at = F(0.5) * (low + high);
        Spot s = blend(blend_at(GRID e.at), a, b, c, d);
        Cell found = cell_of(s);
        if (same_cell(found, cell)) {
            low = e.at;
            inside = s;
        } else {
            high = e.at;
            e.leave = s;
            e.next = found;
        }
    }
    if (!(e.at > at)) { // no way is left
        e.leave = c;
        e.next = last;
    }
    return e;
}

// The one of 1281 directions that is nearest to the line from a to b; of equally near ones the first. It is found along
// the mesh of them, from one that lies in the same cell of a cube.
FUNCTION uint direction_of(GRID_PARAMETER Spot a, Spot b)
{
    EXACT float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    EXACT float x = AXIS(0, 0) * dx + AXIS(0, 1) * dy + AXIS(0, 2) * dz;
    EXACT float y = AXIS(1, 0) * dx + AXIS(1, 1) * dy + AXIS(1, 2) * dz;
    EXACT float z = AXIS(2, 0) * dx + AXIS(2, 1) * dy + AXIS(2, 2) * dz;
    if (x == F(0.0) && y == F(0.0) && z == F(0.0)) x = F(1.0);
    uint face = abs(y) > abs(x) ? 1u : 0u;
    if (abs(z) > (face == 1u ? abs(y) : abs(x))) face = 2u;
    EXACT float up = face == 0u ? x : face == 1u ? y : z;
    EXACT float v = face == 0u ? y : face == 1u ? z : x, w = face == 0u ? z : face == 1u ? x : y;
    if (up < F(0.0)) {
        v = -v;
        w = -w;
        up = -up;
    }
    // 1 / up, near enough
    EXACT float by = intBitsToFloat(2129859011 - floatBitsToInt(up));
    by = by * (F(2.0) - up * by);
    by = by * (F(2.0) - up * by);
    v = (v * by + F(1.0)) * F(16.0);
    w = (w * by + F(1.0)) * F(16.0);
    int i = floor_of(v), j = floor_of(w);
    i = i < 0 ? 0 : i > 31 ? 31 : i;
    j = j < 0 ? 0 : j > 31 ? 31 : j;
    uint here = START((face * 32u + UINT(i)) * 32u + UINT(j)), next = here;
    EXACT float best = abs(x * DIRECTION(here, 0) + y * DIRECTION(here, 1) + z * DIRECTION(here, 2));
    do {
        here = next;
        for (uint m = 0u; m < 6u; m++) {
            uint other = NEIGHBOUR(here, m);
            EXACT float dot_of = abs(x * DIRECTION(other, 0) + y * DIRECTION(other, 1) + z * DIRECTION(other, 2));
            if (dot_of > best || (dot_of == best && other < next)) {
                best = dot_of;
                next = other;
            }
        }
    } while (next != here);
    return here;
}
