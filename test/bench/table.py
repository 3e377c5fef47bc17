"""The table of speed in src/doc/speed.md, from the records beside this script: the newest of each device.

    table.py [RECORD.json ...]

A record is what `glslines bench --json` wrote, under the name DATE-MACHINE.json. Points per second are those of kernels and transfers; ratios are to the other program's tracking
alone."""

import json
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
GETTERS = {"boot": "bootstrap", "prob": "probabilistic", "det": "deterministic", "ptt": "parallel transport"}


def rate(points):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if points >= limit:
            return f"{points / limit:.3g} {unit}"
    return f"{points:.3g}"


def ratio(x):
    return f"{x:.0f}" if x >= 99.5 else f"{x:.2g}"


def against(record, column):
    """Returns a text for each other program that tracks in the same way."""
    points = column["points_per_second"]["kernels_and_transfers"]
    for peer in record.get("peers", []):
        # leave out ptt of DIPY: whole steps of one curve are another model than short steps
        if peer["dg"] == column["dg"] and "one curve" not in peer["tracker"]:
            cores = "1 core" if peer["threads"] == 1 else f"{peer['threads']} threads"
            yield f"{ratio(points / peer['points_per_second'])} x {peer['program']} {peer['version']} {peer['tracker']}, {cores}"


def order_of(record):
    return record["data"]["sh_order"]


def newest(paths):
    """Returns the last record of each device and mapping."""
    found = {}
    for path, record in sorted(((path, json.loads(path.read_text())) for path in paths), key=lambda item: item[1]["started"]):
        others = record["host"]["cpus_busy_with_others"]
        if others is not None and others > 0.1 * record["host"]["cores"]:
            sys.exit(f"{path}: other processes kept {others:.2f} of {record['host']['cores']} CPUs busy: make it on an idle machine")
        for column in record["columns"]:
            key = record["devices"][column["device"]]["renderer"], record["host"]["cpu"], column["mapping"], column["lanes"], column["dg"], order_of(record), column["seeds"]
            found[key] = (path, record, column)
    return found.values()


def main():
    paths = [Path(p) for p in sys.argv[1:]] or list(here.glob("[0-9]*.json"))
    print("| device | tracking | order | seeds | points/s | with writing | against | record |")
    print("|---|---|---|---|---|---|---|---|")
    rows = sorted(newest(paths), key=lambda row: (row[1]["devices"][row[2]["device"]]["software"], -order_of(row[1]), row[0].name, list(GETTERS).index(row[2]["dg"]), row[2]["seeds"]))
    for path, record, column in rows:
        device = record["devices"][column["device"]]
        name = device["renderer"].split("/")[0].strip()
        if device["software"]:
            name = f"{name.split(' (')[0]}, {record['host']['cores']} cores of {record['host']['cpu']}"
        speed = column["points_per_second"]
        whole = rate(speed["whole"]) if record["file_written"] else ""
        texts = "<br>".join(against(record, column))
        print(f"| {name} | {GETTERS[column['dg']]} | {order_of(record)} | {column['seeds']:,} | {rate(speed['kernels_and_transfers'])} | {whole} | {texts} | {path.stem} |")


if __name__ == "__main__":
    main()
