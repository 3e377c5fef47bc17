"""Makes TRX files of all kinds for tests: write(PATH, LINES, dps, dpv, groups, dim, affine). Standard library only."""
import json
import struct
import zipfile

CODES = {"int64": "q", "uint64": "Q", "float32": "f", "float64": "d", "uint32": "I", "int32": "i", "uint8": "B"}


def write(path, lines, dps=None, dpv=None, groups=None, dim=(9, 9, 9), affine=None):
    """Writes a TRX file. lines: lists of points; dps, dpv: for each NAME a list of float32, for each NAME.TYPE a list of that
    type; groups: for each NAME a list of streamline numbers."""
    points = [c for line in lines for point in line for c in point]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    affine = affine or [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    header = {"VOXEL_TO_RASMM": affine, "DIMENSIONS": list(dim), "NB_STREAMLINES": len(lines), "NB_VERTICES": offsets[-1]}
    arrays = {"positions.3.float32": points, "offsets.uint32": offsets}
    for kind, columns in (("dps", dps), ("dpv", dpv)):
        for name, values in (columns or {}).items():
            arrays[f"{kind}/{name}" if "." in name else f"{kind}/{name}.float32"] = values
    arrays.update({f"groups/{name}.uint32": places for name, places in (groups or {}).items()})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, values in arrays.items():
            archive.writestr(name, struct.pack(f"<{len(values)}{CODES[name.rsplit('.', 1)[1]]}", *values))
