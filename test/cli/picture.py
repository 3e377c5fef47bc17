"""Looks at PNG pictures: picture.py CHECK ARGUMENTS..., with a line and exit code 1 for what is wrong. Standard library only.

    same A B          the same pixels
    near A B          at most 0.5 % of pixels differ by more than 8 of 255
    text FILE KEY     prints an entry
    frames FILE       prints how many frames it has
    size FILE         prints WIDTH HEIGHT
    where FILE X Y W H    prints left, right, up, down or middle: where the coloured pixels of this box lie
    share FILE X Y W H    prints the share of coloured pixels in this box
    pixel FILE X Y    prints red green blue alpha
    shape FILE        prints wide or tall, how the coloured pixels lie, and red, green or blue, what most of them are
    has FILE R G B    prints yes or no: a pixel has this colour, within 8 of 255
"""

import struct
import sys
import zlib


def chunks(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path}: no PNG file"
    at = 8
    while at < len(data):
        (n,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        (crc,) = struct.unpack(">I", data[at + 8 + n : at + 12 + n])
        assert crc == zlib.crc32(kind + body), f"{path}: CRC of {kind}"
        yield kind, body
        at += 12 + n


def plain(kind, values, above):
    """Returns the values of one channel of a row, from the bytes of PNG's filter and the row above."""
    if kind == 0:
        return values
    if kind == 2:
        return bytes((value + up) & 255 for value, up in zip(values, above))
    out, left, corner = bytearray(), 0, 0
    for value, up in zip(values, above):
        if kind == 1 or kind == 4 and up == corner:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        elif left == corner:
            guess = up
        else:
            p = left + up - corner
            guess = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
        left, corner = (value + guess) & 255, up
        out.append(left)
    return out


def pixels(path):
    """Returns width, height, and rows of (r, g, b[, a]) bytes of the first frame."""
    packed = b""
    for kind, body in chunks(path):
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), f"{path}: depth {depth}, colours {colour}"
        if kind == b"IDAT":
            packed += body
    step = 3 if colour == 2 else 4
    raw, n, rows = zlib.decompress(packed), width * step, []
    assert len(raw) == (n + 1) * height, f"{path}: {len(raw)} bytes of pixels"
    above = bytearray(n)
    for y in range(height):
        kind, row = raw[y * (n + 1)], bytearray(raw[y * (n + 1) + 1 : (y + 1) * (n + 1)])
        for channel in range(step):
            row[channel::step] = plain(kind, row[channel::step], above[channel::step])
        rows.append(row)
        above = row
    return width, height, step, rows


def coloured(path, x, y, w, h):
    """Returns the pixels of the box that are not grey; labels are grey."""
    _, _, step, rows = pixels(path)
    return [(c, r) for r in range(y, y + h) for c in range(x, x + w) if max(rows[r][c * step : c * step + 3]) - min(rows[r][c * step : c * step + 3]) > 40]


def main(check, path, *rest):
    if check == "text":
        for kind, body in chunks(path):
            key, _, value = body.partition(b"\0")
            if kind == b"tEXt" and key == rest[0].encode():
                print(value.decode())
    elif check == "frames":
        kinds = [kind for kind, _ in chunks(path)]
        declared = [struct.unpack(">I", body[:4])[0] for kind, body in chunks(path) if kind == b"acTL"]
        assert (declared or [1])[0] == max(kinds.count(b"fcTL"), 1) == kinds.count(b"fdAT") + 1, f"{path}: frames"
        print(kinds.count(b"fdAT") + 1)
    elif check == "size":
        print(*pixels(path)[:2])
    elif check in ("same", "near"):
        a, b = pixels(path), pixels(rest[0])
        assert a[:3] == b[:3], f"{path} and {rest[0]}: sizes differ"
        differ = sum(abs(p - q) > (8 if check == "near" else 0) for x, y in zip(a[3], b[3]) for p, q in zip(x, y))
        assert differ <= (0.005 * a[0] * a[1] if check == "near" else 0), f"{path} and {rest[0]}: {differ} values differ"
    elif check == "share":
        box = [int(v) for v in rest]
        print(f"{len(coloured(path, *box)) / (box[2] * box[3]):.4f}")
    elif check == "pixel":
        _, _, step, rows = pixels(path)
        x, y = int(rest[0]), int(rest[1])
        print(*rows[y][x * step : (x + 1) * step])
    elif check == "shape":
        width, height, step, rows = pixels(path)
        found = coloured(path, 0, 0, width, height)
        assert found, f"{path}: nothing is drawn"
        spans = [max(p[k] for p in found) - min(p[k] for p in found) for k in (0, 1)]
        sums = [sum(rows[r][c * step + k] for c, r in found) for k in range(3)]
        print("wide" if spans[0] > 2 * spans[1] else "tall" if spans[1] > 2 * spans[0] else "round", ("red", "green", "blue")[sums.index(max(sums))])
    elif check == "has":
        _, _, step, rows = pixels(path)
        colour = [int(v) for v in rest]
        found = any(all(abs(row[i + k] - colour[k]) <= 8 for k in range(3)) for row in rows for i in range(0, len(row), step))
        print("yes" if found else "no")
    else:
        x, y, w, h = (int(v) for v in rest)
        found = coloured(path, x, y, w, h)
        assert found, f"{path}: nothing is drawn"
        dx = sum(c for c, _ in found) / len(found) - (x + w / 2)
        dy = sum(r for _, r in found) / len(found) - (y + h / 2)
        if max(abs(dx), abs(dy)) < 0.05 * w:
            print("middle")
        elif abs(dx) > abs(dy):
            print("right" if dx > 0 else "left")
        else:
            print("down" if dy > 0 else "up")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except AssertionError as error:
        print(error)
        sys.exit(1)
