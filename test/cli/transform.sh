#!/bin/sh
# Tests of spatial transforms: transform.sh TOOL WORK_DIR. Needs python3.
. "$(dirname "$0")/common.sh"

# writes lines.tck, a field of displacements and the same field as positions
cat > make.py << 'END'
import math, struct
n, step, low = 24, 2.0, -20.0
def save(name, value):
    values = [value(*(low + step * i for i in (x, y, z)))[a] for a in range(3) for z in range(n) for y in range(n) for x in range(n)]
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, n, n, n, 3, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 16, 32)
    struct.pack_into("<8f", head, 76, 1, step, step, step, 1, 1, 1, 1)
    struct.pack_into("<3f", head, 108, 352, 1, 0)
    struct.pack_into("<2h", head, 252, 0, 1)
    for a in range(3):
        row = [0.0, 0.0, 0.0, low]
        row[a] = step
        struct.pack_into("<4f", head, 280 + 16 * a, *row)
    head[344:348] = b"n+1\0"
    with open(name, "wb") as f:
        f.write(head + struct.pack("<%df" % len(values), *values))
def shift(x, y, z):
    return math.sin(y / 6), 2 + math.sin(z / 5), math.cos(x / 7)
save("displacements.nii", shift)
save("positions.nii", lambda x, y, z: [p + d for p, d in zip((x, y, z), shift(x, y, z))])
with open("lines.tck", "wb") as f:
    f.write(b"mrtrix tracks\ndatatype: Float32LE\ncount: 5\nfile: . 68\nEND\n".ljust(68, b"\0"))
    for y in range(-10, 11, 5):
        for i in range(20):
            f.write(struct.pack("<3f", -10 + i, y, 0.1 * i))
        f.write(struct.pack("<3f", *[math.nan] * 3))
    f.write(struct.pack("<3f", *[math.inf] * 3))
END
python3 make.py || note "make.py"

# --- fields of displacements are not taken for positions ---
expect 0 edit lines.tck moved.tck --warp positions.nii
expect 3 edit lines.tck x.tck --warp displacements.nii
says "displacements.nii: its values do not grow with the position"

finish "spatial transforms"
