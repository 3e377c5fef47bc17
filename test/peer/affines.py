"""Affines of the grids on which programs are compared."""
import numpy as np


def rotation(angles):
    """Returns the rotation about x, then y, then z, in degrees."""
    ax, ay, az = np.radians(angles)
    rx = np.array([[1, 0, 0], [0, np.cos(ax), -np.sin(ax)], [0, np.sin(ax), np.cos(ax)]])
    ry = np.array([[np.cos(ay), 0, np.sin(ay)], [0, 1, 0], [-np.sin(ay), 0, np.cos(ay)]])
    rz = np.array([[np.cos(az), -np.sin(az), 0], [np.sin(az), np.cos(az), 0], [0, 0, 1]])
    return rz @ ry @ rx


def affine(matrix, origin):
    """Returns the affine from its 3 x 3 part and the world position of the first voxel's centre."""
    a = np.eye(4)
    a[:3, :3] = matrix
    a[:3, 3] = origin
    return a
