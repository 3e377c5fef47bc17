"""No argument of the package ends the interpreter: every function and keyword with None, lists of None, other types, NaN and
huge numbers.

    hostile.py WORK_FOLDER

Functions and keywords are those of the signatures, so that new ones are asked, too. Each function is asked in a process of its own.
What runs the program is asked up to the words of its command line, which have to be texts without null characters."""

import concurrent.futures
import ctypes
import inspect
import os
import subprocess
import sys

import numpy as np

WORK = sys.argv[1]
VALUES = {
    "None": None, "[None]": [None], "[text, None]": ["a.nii", None], "[[None]]": [[None]], "(None, None)": (None, None), "{}": {}, "[]": [], "()": (), "object": object(),
    "type": dict, "function": len, "nan": float("nan"), "[nan]": [float("nan")] * 3, "inf": float("inf"), "-inf": -float("inf"), "0": 0,
    "-1": -1, "2**31": 2**31, "2**63": 2**63, "2**64": 2**64, "10**400": 10**400, "1e308": 1e308, "1e-320": 1e-320, "True": True,
    "empty text": "", "long text": "x" * 5000, "null character": "a\0b", "surrogate": "\udc80", "bytes": b"x", "array of None": np.array(None),
    "array of two None": np.array([None, None]), "empty array": np.array([]), "array of nan": np.full((2, 2, 2), np.nan),
    "complex array": np.ones((3, 3)) * 1j, "array of texts": np.array(["a", "b"]), "pair of None": (None, np.eye(4)),
    "pair without numbers": (np.full((2, 2, 2), None), np.eye(4)), "affine of nan": (np.ones((2, 2, 2)), np.full((4, 4), np.nan)),
}
#: affines that no function may take, by what is wrong with them
AFFINES = {"singular": np.diag([2.0, 2, 0, 1]), "huge": np.diag([1e300, 2, 2, 1]), "tiny": np.diag([1e-300, 2, 2, 1]), "nan": np.diag([2, np.nan, 2, 1.0]),
           "inf": np.array([[2, 0, 0, np.inf], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1.0]]), "transposed": np.array([[2.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [9, 9, 9, 1]])}
#: exceptions that a call may raise; any other exception is a fault of the package
REFUSALS = (TypeError, ValueError, OSError, NotImplementedError, OverflowError, MemoryError)
SHAPE = (4, 4, 4)


class Cases:
    """By name: a function of the package, and arguments with which it works or fails late."""

    def __init__(self):
        import glslines

        def stop(command, arguments, progress=None, behind=None, folder=""):
            for word in [*arguments, *(behind or [])]:
                if not isinstance(word, str):
                    raise AssertionError("%r is no word" % (word,))
                if b"\0" in os.fsencode(word):
                    raise ValueError("a null character")
            raise glslines.ArgumentError("the program would run")

        glslines._program.run = glslines._program.start = stop
        rng, affine = np.random.default_rng(0), np.diag([2.0, 2, 2, 1])
        image, series = rng.random(SHAPE), rng.random(SHAPE + (13,)) + 1
        directions = rng.normal(size=(12, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        gradients = glslines.Gradients([0] + [1000] * 12, np.concatenate([np.zeros((1, 3)), directions]), affine)
        lines = glslines.Result.from_arrays(rng.random((9, 3)), [0, 4, 9], {"a": [1, 2]}, (SHAPE, affine))
        sh, labels = rng.random(SHAPE + (6,)), (rng.integers(0, 3, SHAPE), affine)
        odf = glslines.ODF.from_sh(sh, affine=affine)
        file = os.path.join(WORK, "hostile%d" % os.getpid())
        no_device = glslines.Device.__new__(glslines.Device)  # a tracker checks everything else before
        no_device._handles = []
        lines.save(file + ".trx", overwrite=True)
        tracks = {"tracks": file + ".trx"}
        self.given = {
            "Device": {"name": "no such device"}, "Gradients": {"bvals": [0, 1000], "bvecs": np.eye(3)[:2], "affine": affine},
            "Gradients.read": {"bval": "none", "bvec": "none", "affine": affine, "n_volumes": 2},
            "Gradients.read_table": {"path": "none", "affine": affine, "n_volumes": 2},
            "Gradients.from_dipy": {"gtab": gradients, "affine": affine}, "Params": {}, "QBall": {"gradients": gradients},
            "QBall.fit": {"self": glslines.QBall(gradients, sh_order=2), "dwi": series}, "Sphere": {},
            "ODF.from_sh": {"sh": sh, "affine": affine}, "ODF.from_amplitudes": {"odf": series[..., 1:], "sphere": directions, "affine": affine},
            "Seeds.random": {"roi": image, "n": 3}, "Seeds.per_voxel": {"roi": image, "n": 3}, "Seeds.points": {"xyz": np.ones((2, 3))},
            "Tracker": {"device": no_device, "stop_map": image, "odf": odf, "affine": affine},
            "Result.from_arrays": {"points": np.ones((4, 3)), "offsets": [0, 4]},
            "Result.save": {"self": lines, "path": file + ".trx", "overwrite": True}, "Result.to_stateful": {"self": lines},
            "csd": {"dwi": series, "gradients": gradients, "sh_order": 2, "affine": affine}, "devices": {},
            "fit_tensor": {"dwi": series, "gradients": gradients}, "load": {"path": file + ".trx"}, "load_image": {"path": "none.nii"},
            "load_labels": {"path": "none.nii"}, "save_labels": {"path": file + ".nii", "array": labels[0], "affine": affine},
            "save_image": {"path": file + ".nii", "array": image, "affine": affine}, "track": {"dwi": "none.nii.gz"},
            "anat": {"t1": "none.nii.gz", "out": file + "_anat", "dwi": "none.nii.gz"}, "bids": {"bids_dir": "a", "out_dir": "b"}, "connectome": {**tracks, "labels": labels}, "edges": {**tracks, "assignments": labels},
            "permute": {"files": [np.arange(3.0)] * 4, "design": np.ones((4, 1)), "contrasts": [[1]]},
            "fixels": {"sh": (sh, affine)}, "peaks": {"sh": (sh, affine)}, "transform": {"moving": (image, affine), "transform": affine}, "register": {"moving": (image, affine), "fixed": (image, affine)}, "weights": {**tracks, "sh": (sh, affine)}, "fit": {"dwi": "dwi.nii.gz"},
            "response": {"dwi": "dwi.nii.gz"}, "sample": {**tracks, "images": (image, affine)}, "profile": {**tracks, "images": (image, affine)},
            "segment": {**tracks, "bundles_table": "bundles.tsv"}, "score": tracks, "phantom": {}, "render": {"tracks": "none.trx"},
            "report": {"tracks": "none.trx"}, **{name: tracks for name in ("clean", "cluster", "convert", "density", "edit", "info", "stats")},
            "view": {}, "search": {**tracks, "references": file + ".trx"}, "recognize": {**tracks, "atlas": file + ".trx"},
            "atlas": {"bundles": [file + ".trx", file + ".trx"]}, "similarity": {"bundles": [file + ".trx", file + ".trx"]},
        }
        #: names that are no functions, or that others have made
        made_by_others = {"Batch", "Files", "Picture", "Tracked", "Result", "Window"}
        self.functions = {}
        for name in glslines.__all__:
            value = getattr(glslines, name)
            if inspect.isclass(value) and issubclass(value, Exception):
                continue
            if not inspect.isclass(value) or name not in made_by_others | {"ODF", "Seeds"}:
                self.functions[name] = value
            for method, member in vars(value).items() if inspect.isclass(value) else ():
                if not method.startswith("_") and callable(getattr(value, method)) and len(inspect.signature(getattr(value, method)).parameters) > (
                        0 if isinstance(member, classmethod) else 1):
                    self.functions["%s.%s" % (name, method)] = getattr(value, method)


#: methods that need a device, or that are those of dict
LEFT_OUT = {"Tracker.run", "Tracker.run_to", "Params.set", "Tracked.get", "Files.get", "Picture.fromkeys"}


def ask(name):
    """Runs in the process of one function: calls it with every keyword and every value."""
    cases = Cases()
    function, base = cases.functions[name], cases.given[name]
    texts = {}
    asked = wrong = 0

    def refusal(keyword, value):
        """Returns the text with which a call is refused; None: it is not."""
        given = {**base, keyword: value}
        try:
            function(given.pop("self"), **given) if "self" in given else function(**given)
        except Exception as error:
            return str(error)
        return None

    for keyword, parameter in inspect.signature(function).parameters.items():
        if keyword == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        for shown, value in VALUES.items():
            print("%s(%s=%s)" % (name, keyword, shown), file=sys.stderr, flush=True)
            given = {**base, keyword: value}
            asked += 1
            try:
                function(given.pop("self"), **given) if "self" in given else function(**given)
                texts[keyword, shown] = "taken"
            except ctypes.ArgumentError as error:
                wrong += 1
                print("%s(%s=%s): %r" % (name, keyword, shown, error))
            except Exception as error:
                import glslines

                texts[keyword, shown] = str(error)
                if not isinstance(error, (*REFUSALS, glslines.Error)) or not str(error):
                    wrong += 1
                    print("%s(%s=%s): %r" % (name, keyword, shown, error))
        # every image, grid and affine that is given, with an affine that cannot be used
        usual = base.get(keyword)
        image = usual[0] if isinstance(usual, tuple) else usual
        places = keyword in ("affine", "ref") or (np.ndim(image) > 2)
        for fault, affine in AFFINES.items() if places else ():
            text = refusal(keyword, affine if keyword == "affine" else (np.ones(SHAPE) if keyword == "ref" else image, affine))
            asked += 1
            if text is None or "affine" not in text:
                wrong += 1
                print("%s(%s: %s affine): %s" % (name, keyword, fault, text))
        # None inside a list is never a text; a list of texts that has it is refused
        for shown in ("[None]", "[text, None]") if "List[ImageLike]" in str(parameter.annotation) else ():
            if not texts[keyword, shown].startswith(keyword):
                wrong += 1
                print("%s(%s=%s): %s" % (name, keyword, shown, texts[keyword, shown]))
    print("%d calls" % asked)
    return wrong > 0


def main():
    os.makedirs(WORK, exist_ok=True)
    cases = Cases()
    names = set(cases.functions) - LEFT_OUT
    failed = names ^ set(cases.given)
    for name in failed:
        print("%s: has no arguments in Cases.given, or is no function" % name)
    total = 0
    def child_of(name):
        return subprocess.run([sys.executable, __file__, WORK, name], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)

    asked = sorted(names - failed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        children = list(zip(asked, pool.map(child_of, asked)))
    for name, child in children:
        lines = child.stdout.splitlines()
        if child.returncode:
            failed.add(name)
            print("%s: exit code %d, last asked: %s" % (name, child.returncode, (child.stderr.splitlines() or [""])[-1]))
            print("\n".join(lines))
        total += int(lines[-1].split()[0]) if lines and lines[-1].endswith("calls") else 0
    print("%d calls of %d functions, %d functions failed" % (total, len(names), len(failed)))
    sys.exit(bool(failed) or total < 20000)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(ask(sys.argv[2]))
    main()
