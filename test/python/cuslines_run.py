"""Computes by cuslines or by its stand-in: mean length and density of probabilistic tracking on the phantom.

cuslines_run.py real|glslines INPUT.npz OUTPUT.npz"""

import sys

import nibabel as nib
import numpy as np
from dipy.data import get_sphere

if sys.argv[1] == "glslines":
    import glslines.cuslines

    glslines.cuslines.install("llvmpipe")

from cuslines.numba import CPUProbDirectionGetter, CPUTracker  # noqa: E402

given = np.load(sys.argv[2])
image = nib.Nifti1Image(np.zeros(given["fa"].shape, np.uint8), given["affine"])
sphere = get_sphere(name="repulsion724")
with CPUTracker(CPUProbDirectionGetter(), given["odf"], given["fa"], 0.1, sphere.vertices, sphere.edges,
                sphere_symm=False, max_angle=np.radians(30), step_size=0.5, rng_seed=1) as tracker:
    sft = tracker.generate_sft(given["seeds"], image)
# cuslines keeps streamlines that could not make a step
lines = [line for line in sft.streamlines if len(line) > 1]
density = np.zeros(given["fa"].shape)
for line in lines:
    np.add.at(density, tuple(np.unique(np.floor(line + 0.5).astype(int), axis=0).T), 1)
lengths = [np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in lines]
np.savez(sys.argv[3], n=len(lines), mean=np.mean(lengths), density=density)
