"""Draws a tractogram as three views side by side, coloured by direction: the picture in README.md.

    readme_picture.py GLSLINES PICTURE.png [--nseeds N] [--draw N] [--min-length MM] [--dpi N]

GLSLINES tracks the built-in phantom; N of its streamlines, evenly spread over the file, are drawn. Needs numpy and matplotlib."""

import argparse
import subprocess
import tempfile
import zipfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from PIL import Image  # matplotlib needs it too

BACKGROUND = "#101014"
# title; the two world axes on the page and their signs (left is on the left); the axis towards the viewer and its sign
VIEWS = [
    ("from above", (0, 1), (1, 1), 2, 1),
    ("from behind", (0, 2), (1, 1), 1, -1),
    ("from the left", (1, 2), (-1, 1), 0, -1),
]


def track(program, nseeds):
    """Points (mm) of a run on the phantom; where each streamline begins, and where the last one ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "phantom.trx"
        subprocess.run([program, "track", "-q", "--nseeds", str(nseeds), "-o", str(path)], check=True)
        with zipfile.ZipFile(path) as trx:
            points = np.frombuffer(trx.read("positions.3.float32"), "<f4").reshape(-1, 3)
            name = next(n for n in trx.namelist() if n.startswith("offsets."))
            offsets = np.frombuffer(trx.read(name), "<u4" if name.endswith("32") else "<u8").astype(np.int64)
    return points, offsets


def choose(points, offsets, n_draw, min_length):
    """Streamlines of at least min_length mm, n_draw of them at equal distances in the file."""
    chosen = []
    for begin, end in zip(offsets[:-1], offsets[1:]):
        line = points[begin:end]
        if np.linalg.norm(np.diff(line, axis=0), axis=1).sum() >= min_length:
            chosen.append(line)
    return [chosen[i] for i in np.linspace(0, len(chosen) - 1, min(n_draw, len(chosen))).astype(int)]


def segments_of(lines):
    """Pieces of two points, and their colours: red left-right, green front-back, blue up-down."""
    segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
    direction = np.abs(segments[:, 1] - segments[:, 0])
    colour = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return segments, colour**0.8


def draw(segments, colour, path, n_lines, dpi):
    extent = np.array([segments.min(axis=(0, 1)) - 3, segments.max(axis=(0, 1)) + 3])
    widths = [np.ptp(extent[:, page[0]]) for _, page, _, _, _ in VIEWS]
    height = max(np.ptp(extent[:, page[1]]) for _, page, _, _, _ in VIEWS)
    scale = 12.0 / sum(widths)
    figure, axes = plt.subplots(1, len(VIEWS), figsize=(12, height * scale + 0.3), gridspec_kw={"width_ratios": widths, "wspace": 0.02}, facecolor=BACKGROUND)
    for axis, (title, page, sign, depth, towards) in zip(axes, VIEWS):
        # far pieces first and darker, so that near ones lie on top
        near = segments[:, :, depth].mean(axis=1) * towards
        order = np.argsort(near, kind="stable")
        shade = np.interp(near[order], (near.min(), near.max()), (0.25, 1.0))[:, None] ** 1.2
        flat = segments[order][:, :, list(page)] * np.array(sign)
        axis.add_collection(LineCollection(flat, colors=np.clip(colour[order] * shade, 0, 1), linewidths=0.4, alpha=0.9))
        centre = extent[:, page[1]].mean() * sign[1]
        axis.set_xlim(*sorted(extent[:, page[0]] * sign[0]))
        axis.set_ylim(centre - height / 2, centre + height / 2)
        axis.set_aspect("equal")
        axis.axis("off")
        axis.set_title(title, color="#b0b0b8", fontsize=9, pad=2)
    figure.subplots_adjust(left=0.005, right=0.995, bottom=0.01, top=0.94)
    figure.savefig(path, dpi=dpi, facecolor=BACKGROUND)
    # a palette of 256 colours is a third of the size
    Image.open(path).convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=2).save(path, optimize=True)
    print(f"{path}: {n_lines} streamlines, {Path(path).stat().st_size / 1000:.0f} kB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="GLSLINES")
    parser.add_argument("picture", metavar="PICTURE.png")
    parser.add_argument("--dpi", type=int, default=120)
    parser.add_argument("--nseeds", type=int, default=20000)
    parser.add_argument("--draw", type=int, default=6000, help="streamlines to draw")
    parser.add_argument("--min-length", type=float, default=20.0, help="mm; shorter ones are not drawn")
    arguments = parser.parse_args()
    points, offsets = track(arguments.program, arguments.nseeds)
    lines = choose(points, offsets, arguments.draw, arguments.min_length)
    segments, colour = segments_of(lines)
    draw(segments, colour, arguments.picture, len(lines), arguments.dpi)


if __name__ == "__main__":
    main()
