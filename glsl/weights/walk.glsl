// How a streamline passes from voxel to voxel, as MRtrix3 maps it: upsampled along a cubic through its points, and cut
// where the cubic leaves a voxel, found by bisection. Coordinates are grid coordinates, with voxel side 1; lengths are
// in mm. The kernel (weights/map.comp) and the CPU (src/weights/voxel_walk.c) share this text, which is both GLSL and
// C, and give the same bytes: EXACT keeps compilers from fusing, and divisions and square roots are avoided, because
// drivers round them differently. Double precision is needed: lengths much shorter than a voxel are summed, and one
// entry more or less changes all weights of a fixel.

// A position in grid coordinates.
struct Spot {
    double x, y, z;
};
// A voxel: the coordinates of its centre.
struct Cell {
    int x, y, z;
};
// A cubic from b (p = 0) to the next point (p = 1): b + p (first + p (second + p third)).
struct Curve {
    Spot b, first, second, third;
};
// Where a curve leaves a voxel: the first position found outside, its voxel, and the parameter p of the curve at which
// the search ended.
struct Exit {
    Spot leave;
    Cell next;
    double at;
};

// A coefficient of the cubic, from the differences between b and its neighbours.
FUNCTION double share_of(GRID_PARAMETER int k, double a, double b, double c, double d)
{
    EXACT double s = SHAPE(k, 0) * (a - b) + SHAPE(k, 1) * (c - b) + SHAPE(k, 2) * (d - b);
    return s;
}

// The cubic between b and c, from four points.
FUNCTION Curve curve_of(GRID_PARAMETER Spot a, Spot b, Spot c, Spot d)
{
    Curve w;
    w.b = b;
    w.first.x = share_of(GRID 0, a.x, b.x, c.x, d.x);
    w.first.y = share_of(GRID 0, a.y, b.y, c.y, d.y);
    w.first.z = share_of(GRID 0, a.z, b.z, c.z, d.z);
    w.second.x = share_of(GRID 1, a.x, b.x, c.x, d.x);
    w.second.y = share_of(GRID 1, a.y, b.y, c.y, d.y);
    w.second.z = share_of(GRID 1, a.z, b.z, c.z, d.z);
    w.third.x = share_of(GRID 2, a.x, b.x, c.x, d.x);
    w.third.y = share_of(GRID 2, a.y, b.y, c.y, d.y);
    w.third.z = share_of(GRID 2, a.z, b.z, c.z, d.z);
    return w;
}

// Position on the curve at parameter p, 0 .. 1.
FUNCTION Spot spot_at(Curve w, double p)
{
    EXACT Spot s;
    s.x = w.b.x + p * (w.first.x + p * (w.second.x + p * w.third.x));
    s.y = w.b.y + p * (w.first.y + p * (w.second.y + p * w.third.y));
    s.z = w.b.z + p * (w.first.z + p * (w.second.z + p * w.third.z));
    return s;
}

// Point b mirrored at a.
FUNCTION Spot mirrored(Spot a, Spot b)
{
    EXACT Spot s;
    s.x = D(2.0) * a.x - b.x;
    s.y = D(2.0) * a.y - b.y;
    s.z = D(2.0) * a.z - b.z;
    return s;
}

// Largest integer that is not above x; x is first limited to +-1e9, which no voxel reaches.
FUNCTION int floor_of(double x)
{
    x = x < D(-1.0e9) ? D(-1.0e9) : x;
    x = x > D(1.0e9) ? D(1.0e9) : x;
    int i = INT(x);
    return x < DOUBLE(i) ? i - 1 : i;
}

// Voxel in which a position lies; voxel centres have integer coordinates.
FUNCTION Cell cell_of(Spot s)
{
    Cell c;
    c.x = floor_of(s.x + D(0.5));
    c.y = floor_of(s.y + D(0.5));
    c.z = floor_of(s.z + D(0.5));
    return c;
}

// Whether two voxels are the same.
FUNCTION bool same_cell(Cell a, Cell b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// A position from scanner coordinates.
FUNCTION Spot spot_of(GRID_PARAMETER double x, double y, double z)
{
    EXACT Spot s;
    s.x = TO_GRID(0, 0) * x + TO_GRID(0, 1) * y + TO_GRID(0, 2) * z + TO_GRID(0, 3);
    s.y = TO_GRID(1, 0) * x + TO_GRID(1, 1) * y + TO_GRID(1, 2) * z + TO_GRID(1, 3);
    s.z = TO_GRID(2, 0) * x + TO_GRID(2, 1) * y + TO_GRID(2, 2) * z + TO_GRID(2, 3);
    return s;
}

// Square of the distance between two positions, mm2. METRIC holds the coefficients of this quadratic form.
FUNCTION double square_distance(GRID_PARAMETER Spot a, Spot b)
{
    EXACT double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    EXACT double along = METRIC(0) * (x * x) + METRIC(1) * (y * y) + METRIC(2) * (z * z);
    EXACT double across = METRIC(3) * (x * y) + METRIC(4) * (x * z) + METRIC(5) * (y * z);
    return along + across;
}

// Square root of x >= 0 by Newton's method, starting from the bits of the exponent; 0 below 2^-200.
FUNCTION double root(double x)
{
    EXACT double y = from_words(0u, 1608969168u - (high_word(x) >> 1)), h = D(0.5) * x;
    y = y * (D(1.5) - h * y * y);
    y = y * (D(1.5) - h * y * y);
    y = y * (D(1.5) - h * y * y);
    y = y * (D(1.5) - h * y * y);
    y = x * y;
    return high_word(x) > 863000000u ? y : D(0.0);
}

// Distance between two positions, mm.
FUNCTION double distance_of(GRID_PARAMETER Spot a, Spot b)
{
    return root(square_distance(GRID a, b));
}

// Finds where a curve that ends at c leaves the voxel `cell`. The curve entered the voxel at position `from`, at its
// parameter `at` (0 .. 1, see spot_at()). last: the voxel of c.
FUNCTION Exit find_exit(GRID_PARAMETER Curve curve, Spot c, Cell cell, Cell last, Spot from, double at)
{
    Exit e;
    // Bisection between the last position inside and the first one outside, until both are closer than the precision.
    Spot inside = from;
    double low = at, high = D(1.0);
    e.leave = c;
    e.next = last;
    e.at = at;
    for (int k = 0; k < 60 && square_distance(GRID inside, e.leave) > PRECISION; k++) {
        e.at = D(0.5) * (low + high);
        Spot s = spot_at(curve, e.at);
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
    if (!(e.at > at)) { // no part of the curve remains
        e.leave = c;
        e.next = last;
    }
    return e;
}

// Magnitude of the scalar product of (x, y, z) and direction i; directions are axes without a sense.
FUNCTION double dot_of(GRID_PARAMETER uint i, double x, double y, double z)
{
    EXACT double d = x * DIRECTION(i, 0) + y * DIRECTION(i, 1) + z * DIRECTION(i, 2);
    return d < D(0.0) ? -d : d;
}

// The one of 1281 directions that is nearest to the line from a to b; the first among equals. Found by moving along
// the mesh of directions from one in the same cell of a cube.
FUNCTION uint direction_of(GRID_PARAMETER Spot a, Spot b)
{
    EXACT double dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    // The line in mm, along the axes of the directions.
    EXACT double x = AXIS(0, 0) * dx + AXIS(0, 1) * dy + AXIS(0, 2) * dz;
    EXACT double y = AXIS(1, 0) * dx + AXIS(1, 1) * dy + AXIS(1, 2) * dz;
    EXACT double z = AXIS(2, 0) * dx + AXIS(2, 1) * dy + AXIS(2, 2) * dz;
    if (x == D(0.0) && y == D(0.0) && z == D(0.0)) x = D(1.0);
    // the start of the search does not affect its result
    float fx = FLOAT(x), fy = FLOAT(y), fz = FLOAT(z);
    // Cell of the cube: its face has the largest component; the other two, divided by that one, lie in 32 x 32 cells.
    uint face = abs(fy) > abs(fx) ? 1u : 0u;
    if (abs(fz) > (face == 1u ? abs(fy) : abs(fx))) face = 2u;
    EXACT float up = face == 0u ? fx : face == 1u ? fy : fz;
    EXACT float v = face == 0u ? fy : face == 1u ? fz : fx, w = face == 0u ? fz : face == 1u ? fx : fy;
    if (up < F(0.0)) {
        v = -v;
        w = -w;
        up = -up;
    }
    // an approximation of 1 / up suffices
    EXACT float by = intBitsToFloat(2129859011 - floatBitsToInt(up));
    by = by * (F(2.0) - up * by);
    by = by * (F(2.0) - up * by);
    v = (v * by + F(1.0)) * F(16.0);
    w = (w * by + F(1.0)) * F(16.0);
    int i = INT(v), j = INT(w);
    i = i < 0 ? 0 : i > 31 ? 31 : i;
    j = j < 0 ? 0 : j > 31 ? 31 : j;
    // Climb from neighbour to neighbour while the scalar product grows.
    uint here = START((face * 32u + UINT(i)) * 32u + UINT(j)), next = here;
    double best = dot_of(GRID here, x, y, z);
    do {
        here = next;
        for (uint m = 0u; m < 6u; m++) {
            uint other = NEIGHBOUR(here, m);
            double near = dot_of(GRID other, x, y, z);
            if (near > best || (near == best && other < next)) {
                best = near;
                next = other;
            }
        }
    } while (next != here);
    return here;
}
