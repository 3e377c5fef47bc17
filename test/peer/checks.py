"""Functions that comparison scripts share: they print a line for each check, and run commands that have to succeed."""
import os
import subprocess
import sys

failed = []


def check(good, text):
    print(("ok   " if good else "FAIL ") + text, flush=True)
    if not good:
        failed.append(text)


def report(name, good, detail=""):
    check(good, f"{name}: {detail}" if detail else name)


def outcome():
    """Prints the last line, and exits with the status of the checks."""
    print(f"{len(failed)} checks failed" if failed else "all checks passed")
    return 1 if failed else 0


def run(*command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stderr


def turned(work, files):
    """Writes the same values on another grid. The axes of the harmonics are those of the scanner and stay as they are."""
    import nibabel as nib
    import numpy as np

    a, b = np.radians(25), np.radians(-14)
    about_z = [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
    about_x = [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
    affine = np.eye(4)
    affine[:3, :3] = np.array(about_z) @ np.array(about_x) @ np.diag([2.0, 2.5, 3.1])
    affine[:3, 3] = [-31, 12, 5]
    names = []
    for path in files:
        names.append(os.path.join(work, "turned_" + os.path.basename(path)))
        nib.save(nib.Nifti1Image(np.asarray(nib.load(path).dataobj, dtype=np.float32), affine), names[-1])
    return names
