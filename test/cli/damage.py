#!/usr/bin/env python3
"""Makes damaged inputs from a phantom written by the tool: damage.py PHANTOM_DIR OUT_DIR. Standard library only."""
import gzip
import struct
import sys


def read(path):
    with gzip.open(path) as file:
        return bytearray(file.read())


def write(path, data):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(data)


def offset(image):
    return int(struct.unpack_from("<f", image, 108)[0])


def filled(image, value_bytes):
    """Writes the image with all voxels set to zero, or to the complement of a mask."""
    start = offset(image)
    return image[:start] + bytes(value_bytes for _ in range(len(image) - start))


def columns(path):
    with open(path) as file:
        return [line.split() for line in file if line.strip()]


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(" ".join(row) + "\n" for row in rows)


def images(source, out):
    dwi, mask = read(f"{source}/dwi.nii.gz"), read(f"{source}/mask.nii.gz")
    with open(f"{source}/dwi.nii.gz", "rb") as file:
        packed = file.read()
    with open(f"{out}/truncated.nii.gz", "wb") as file:
        file.write(packed[: len(packed) * 6 // 10])
    write(f"{out}/short.nii.gz", dwi[:-1000])
    write(f"{out}/header_only.nii.gz", dwi[:200])
    with open(f"{out}/text.nii.gz", "w") as file:
        file.write("this is not an image\n" * 100)
    open(f"{out}/nothing.nii.gz", "w").close()
    write(f"{out}/zeros.nii.gz", filled(dwi, 0))
    write(f"{out}/empty.nii.gz", filled(mask, 0))

    start = offset(mask)
    width = struct.unpack_from("<h", mask, 72)[0] // 8
    body = mask[start:]
    outside = bytearray(len(body))
    for i in range(0, len(body), width):
        if not any(body[i : i + width]):
            outside[i : i + width] = b"\1" + b"\0" * (width - 1) if width < 4 else struct.pack("<f", 1.0)
    write(f"{out}/outside.nii.gz", mask[:start] + outside)

    # most of the mask with this name lies outside the grid of the series
    for name, mm in (("moved", 5), ("away", 30)):
        moved = bytearray(mask)
        for at in (292, 268):  # srow_x[3] and qoffset_x
            struct.pack_into("<f", moved, at, struct.unpack_from("<f", moved, at)[0] + mm)
        write(f"{out}/{name}.nii.gz", moved)

    dims = struct.unpack_from("<3h", mask, 42)
    smaller = bytearray(mask)
    struct.pack_into("<h", smaller, 46, dims[2] - 1)
    write(f"{out}/smaller.nii.gz", smaller[: len(smaller) - dims[0] * dims[1] * width])


def series(image, weights):
    """Writes the image of the mask with a volume for each weight."""
    start = offset(image)
    head = bytearray(image[:start])
    struct.pack_into("<2h", head, 70, 2, 8)  # uint8
    struct.pack_into("<h", head, 40, 4)
    struct.pack_into("<h", head, 48, len(weights))
    width = struct.unpack_from("<h", image, 72)[0] // 8
    inside = [any(image[i : i + width]) for i in range(start, len(image), width)]
    return head + b"".join(bytes(weight if i else 0 for i in inside) for weight in weights)


def models(source, out):
    """Writes SH images and amplitudes. Those of along.nii.gz are good, with one large value in the last direction of
    along.txt."""
    mask = read(f"{source}/mask.nii.gz")
    write(f"{out}/sh14.nii.gz", series(mask, [1] * 14))
    write(f"{out}/sh15.nii.gz", series(mask, [1] * 15))
    directions = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1), (1, 1, 0)]
    write(f"{out}/along.nii.gz", series(mask, [5] * 8 + [100]))
    write_rows(f"{out}/along.txt", [[str(c) for c in d] for d in directions])


def tables(source, out):
    bval, bvec = columns(f"{source}/dwi.bval")[0], columns(f"{source}/dwi.bvec")
    write_rows(f"{out}/short.bval", [bval[:-1]])
    write_rows(f"{out}/no_b0.bval", [["2000"] * len(bval)])
    write_rows(f"{out}/words.bval", [["b"] + bval[1:]])
    # tables in other units, and with volumes that make no shell
    write_rows(f"{out}/ms_um2.bval", [[str(float(b) / 1000) for b in bval]])
    write_rows(f"{out}/one.bval", [["0"] * (len(bval) - 1) + ["1000"]])
    write_rows(f"{out}/low.bval", [["300" if float(b) > 50 else "0" for b in bval]])
    write_rows(f"{out}/marked.bval", [["\ufeff0"] + bval[1:]])
    write_rows(f"{out}/short.bvec", [row[:-1] for row in bvec])
    nan, long = [list(row) for row in bvec], [list(row) for row in bvec]
    nan[1][-1] = "nan"
    write_rows(f"{out}/nan.bvec", nan)
    for row in long:
        row[-1] = str(1.5 * float(row[-1]))
    write_rows(f"{out}/long.bvec", long)
    write_rows(f"{out}/two_rows.bvec", bvec[:2])


def texts(out):
    files = {
        "words.txt": "1 2 3\n4 five 6\n",
        "empty.txt": "# no seed\n",
        "far.txt": "1000 1000 1000\n",
        "few.txt": "1 0 0\n0 1 0\n0 0 1\n",
        "twelve.txt": "".join(f"{x} {y} {1 + (x + 2 * y) / 8}\n" for x in range(3) for y in range(4)),
        "three.txt": "0.0015 0.0003 900\n",
        "growing.txt": "0.0003 0.0015 0.0015 900\n",
        "zonal3.txt": "900 -400 100\n",
    }
    for name, text in files.items():
        with open(f"{out}/{name}", "w") as file:
            file.write(text)


images(sys.argv[1], sys.argv[2])
models(sys.argv[1], sys.argv[2])
tables(sys.argv[1], sys.argv[2])
texts(sys.argv[2])
