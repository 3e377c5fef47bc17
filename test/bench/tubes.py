#!/usr/bin/env python3
"""Writes a diffusion series whose streamlines are long: bundles that run through the whole volume, with a second family across.

Usage: tubes.py FOLDER [--shape 81 106 76] [--directions 150]
Short streamlines hide what the longest of a batch cost, which a device tracks alone at the end. Here the fibres of one family go from the first
to the last plane of axis y in waves, those of the other cross them in every second slab. Writes dwi.nii, dwi.bval, dwi.bvec, mask.nii and roi.nii; needs numpy alone.
"""
import argparse
import os
import struct

import numpy as np

SIDE, B, D_ALONG, D_ACROSS = 2.0, 2000.0, 1.7e-3, 0.3e-3  # mm, s/mm2, mm2/s


def write_nifti(path, image):
    """Writes an image with voxels of SIDE mm whose first axis points to the left, so that directions along the voxel axes are
    those of the b-vectors."""
    shape = image.shape + (1,) * (7 - image.ndim)
    code = {"float32": 16, "uint8": 2}[image.dtype.name]
    out = bytearray(352)
    struct.pack_into("<i", out, 0, 348)
    struct.pack_into("<8h", out, 40, image.ndim, *shape)
    struct.pack_into("<2h", out, 70, code, image.dtype.itemsize * 8)
    struct.pack_into("<8f", out, 76, -1.0, SIDE, SIDE, SIDE, 1.0, 1.0, 1.0, 1.0)
    struct.pack_into("<3f", out, 108, 352.0, 1.0, 0.0)
    out[123] = 2  # millimetres
    struct.pack_into("<2h", out, 252, 0, 1)
    rows = np.diag([-SIDE, SIDE, SIDE])
    origin = -rows @ (np.array(image.shape[:3]) - 1) / 2
    for axis in range(3):
        struct.pack_into("<4f", out, 280 + 16 * axis, *rows[axis], origin[axis])
    out[344:348] = b"n+1\0"
    with open(path, "wb") as file:
        file.write(out)
        file.write(image.tobytes(order="F"))


def sphere(n):
    """Returns n directions spread over half a sphere along a spiral."""
    z = (np.arange(n) + 0.5) / n
    turn = np.pi * (1 + 5**0.5) * np.arange(n)
    return np.c_[np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--shape", type=int, nargs=3, default=(81, 106, 76))
    parser.add_argument("--directions", type=int, default=150)
    a = parser.parse_args()
    a.shape = tuple(a.shape)
    os.makedirs(a.folder, exist_ok=True)
    g = np.r_[np.zeros((10, 3)), sphere(a.directions)]
    b = np.r_[np.zeros(10), np.full(a.directions, B)]
    nx, ny, nz = a.shape
    x, y, z = np.meshgrid(np.arange(nx), np.arange(ny), np.arange(nz), indexing="ij", sparse=True)
    turn = 2 * np.pi * y / ny
    along = np.stack(np.broadcast_arrays(0.35 * np.sin(turn + z / 9), np.ones(1), 0.25 * np.cos(turn + x / 11)), -1)
    across = np.stack(np.broadcast_arrays(np.ones(1), 0.2 * np.sin(2 * np.pi * x / nx + z / 7), 0.0 * (x + y + z)), -1)
    along, across = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (along, across))
    share = np.where(y // 6 % 2 == 0, 0.35, 0.0) + 0 * (x + z)
    noise = np.random.default_rng(1)
    dwi = np.empty(a.shape + (len(b),), np.float32, order="F")
    for k in range(len(b)):
        signal = sum(part * np.exp(-b[k] * (D_ACROSS + (D_ALONG - D_ACROSS) * (v @ g[k]) ** 2)) for part, v in ((1 - share, along), (share, across)))
        real, imaginary = noise.normal(0, 1 / 40, (2,) + a.shape)
        dwi[..., k] = 1000 * np.hypot(signal + real, imaginary)
    mask = np.zeros(a.shape, np.uint8)
    mask[2:-2, 2:-2, 2:-2] = 1
    write_nifti(os.path.join(a.folder, "dwi.nii"), dwi)
    write_nifti(os.path.join(a.folder, "mask.nii"), mask)
    write_nifti(os.path.join(a.folder, "roi.nii"), mask)
    np.savetxt(os.path.join(a.folder, "dwi.bval"), b[None], fmt="%g")
    np.savetxt(os.path.join(a.folder, "dwi.bvec"), g.T, fmt="%.7f")


if __name__ == "__main__":
    main()
