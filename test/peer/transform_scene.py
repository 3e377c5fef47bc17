"""Grids that are turned and mirrored, and commands that have to succeed, for comparisons of transforms."""
import subprocess
import sys

import numpy as np


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (words, done.stdout, done.stderr))
    return done.stdout


def grid(shape, sizes, angles, origin, mirrored=False):
    """Returns the affine map of a grid with its centre at a place: voxel sizes, mm, and turns about x, y and z, radians."""
    c, s = np.cos(angles), np.sin(angles)
    turn = (np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]) @ np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]) @
            np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]))
    affine = np.eye(4)
    affine[:3, :3] = turn * sizes
    if mirrored:
        affine[:, 0] *= -1
    affine[:3, 3] = np.array(origin) - affine[:3, :3] @ ((np.array(shape) - 1) / 2)
    return affine
