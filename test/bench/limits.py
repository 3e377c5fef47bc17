#!/usr/bin/env python3
"""What limits each kernel of the tracker on a GPU: experiments in place of a profiler, which no tool offers for OpenGL.

usage: limits.py BUILD/glslines [--orders 8,4] [--seeds N] [--seconds S] [--sms N] [--mhz F] [--only NAMES]

`glslines bench` runs with kernels to which work was added that changes no result, once for each turn (a drawn direction;
in pass 1 once for each seed), and with fewer work groups on the device. The device's own clock gives the kernels' times.
Printed for each kernel:

groups k      time with k work groups on each multiprocessor (a streamline each; ptt 24 or less) over that with all: a
              kernel that waits for latency goes as 1 / k, one that a unit holds up stays
exposed       how much of what the added work costs at the peak of its unit the kernel grew by. 1: the unit is what limits,
              0: it has room
  issue       256 multiply-adds in 8 chains a lane (peak: 4 instructions a clock and multiprocessor)
  latency     64 multiply-adds that wait for each other (peak: 4 clocks each, were there nothing else to do)
  integer     128 additions and exclusive ors in 8 chains (peak: 2 instructions a clock)
  shuffle     32 shuffles (peak: 1 instruction a clock)
  texture     samples of the ODFs' texture where the getter samples: peak by test/bench/ceilings.c; none for ptt
profile       NVML's counters of the multiprocessors (GPM, from Hopper on) while batches of the kernel run one after another

Needs nothing but Python. About 100 s on an H100."""

import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ("kernel/track.comp", "kernel/initial.comp")

# a chain must not end in this number; the compiler cannot know that it never does
CHAINS = """
float probe(vec3 p)
{
    float a0 = p.x, a1 = p.y, a2 = p.z, a3 = p.x + 1.0, a4 = p.y + 1.0, a5 = p.z + 1.0, a6 = p.x + 2.0, a7 = p.y + 2.0;
    float m = p.x * 1e-3, b = p.y;
%s
    return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
}
"""
EIGHT = "    " + " ".join(f"a{i} = fma(a{i}, m, b);" for i in range(8)) + "\n"
WAITING = "    " + " ".join(["a0 = fma(a0, m, b);"] * 8) + "\n"
INTEGERS = """
float probe(vec3 p)
{
    uint a0 = floatBitsToUint(p.x), a1 = floatBitsToUint(p.y), a2 = a0 + 1u, a3 = a1 + 3u, a4 = a0 ^ 5u, a5 = a1 ^ 7u, a6 = a0 + 9u, a7 = a1 + 11u, b = floatBitsToUint(p.z);
%s
    return uintBitsToFloat(a0 ^ a1 ^ a2 ^ a3 ^ a4 ^ a5 ^ a6 ^ a7);
}
"""
# a sum, then bits that depend on it, so that the compiler cannot join one step with the next
PAIRS = "    " + " ".join(f"a{i} += b; a{i} ^= a{(i + 1) % 8};" for i in range(8)) + "\n"
SHUFFLES = """
float probe(vec3 p)
{
    float a0 = p.x + float(gl_SubgroupInvocationID), a1 = a0 + p.y, a2 = a0 + p.z, a3 = a0 + 1.0;
%s
    return a0 + a1 + a2 + a3;
}
"""
FOUR = "    " + " ".join(f"a{i} = subgroupShuffleXor(a{i}, {1 << i}u);" for i in range(4)) + "\n"
SAMPLES = """
#ifdef VOLUME_TILE
float probe(vec3 p)
{
    vec3 base = volume_base(p);
    vec4 sum = vec4(0.0);
%s
    return sum.x + sum.y + sum.z + sum.w;
}
#else
float probe(vec3 p) { return 0.0; }
#endif
"""
# read the tiles that the getter reads, so that they lie in the cache; the places differ by less than a hundredth of a texel
TILES = "".join(f"    sum += VOLUME_TILE(0, min(LANE, 3), base + vec3({i}e-7, 0.0, 0.0));\n" for i in range(1, 9))

# for each name the text of probe(), and its instructions or samples for each lane
PROBES = {
    "issue": (CHAINS % (EIGHT * 32), 256),
    "latency": (CHAINS % (WAITING * 8), 64),
    "integer": (INTEGERS % (PAIRS * 8), 128),
    "shuffle": (SHUFFLES % (FOUR * 8), 32),
    "texture": (SAMPLES % TILES, 8),
}
# for each counter of NVML's GPM its number and its name
METRICS = {2: "SM active", 3: "occupancy", 4: "integer", 12: "FP32", 10: "DRAM", 1: "graphics"}


def source(name):
    """Returns the text of a kernel in the source tree."""
    for folder in (os.path.join(HERE, "../../glsl"), "glsl"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path) as file:
                return file.read()
    sys.exit(f"{name} is not beside this script's tree: start it in the source tree")


def replace(text, old, new):
    if old not in text:
        sys.exit(f"the kernels changed: there is no \"{old}\"")
    return text.replace(old, new)


def write_shaders(folder, probe, groups):
    """Writes kernels with a probe, or limited to so many work groups, to a folder for GLSLINES_SHADER_DIR."""
    for name in KERNELS:
        text = source(name)
        first = name.endswith("initial.comp")
        if probe:
            text = replace(text, "void main()\n", probe + "\nvoid main()\n")
            if first:
                text = replace(text, "        uint vertex[MAX_DIRECTIONS];\n",
                               "        float probed = probe(p);\n        if (probed == 1.2345e30) p.x = probed;\n        uint vertex[MAX_DIRECTIONS];\n")
            else:
                text = replace(text, "        vec3 next = h.d;\n",
                               "        float probed = probe(h.p);\n        if (probed == 1.2345e30) h.d.x = probed;\n        vec3 next = h.d;\n")
        if groups:
            text = replace(text, "void main()\n{\n", f"void main()\n{{\n    if (gl_WorkGroupID.x >= {groups}u) return;\n")
            if first:
                text = replace(text, "gl_NumWorkGroups.x", f"min(gl_NumWorkGroups.x, {groups}u)")
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


MORE = []  # options of every run


def bench(tool, order, getters, seeds, folder=None, repeat=1, more=()):
    """Returns the record of one run; None: it failed."""
    environment = dict(os.environ)
    if folder:
        environment["GLSLINES_SHADER_DIR"] = folder
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([tool, "bench", "--sh-order", str(order), "--dg", getters, "--nseeds", str(seeds), "--repeat", str(repeat), "--no-write", "--force",
                               "--json", file.name, *more, *MORE], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text = open(file.name).read()
    if done.returncode or not text:
        print(done.stdout[-600:], flush=True)
        return None
    return json.loads(text)


def times(record):
    return {(c["dg"], p): c["kernel_seconds"][p] for c in record["columns"] for p in ("pass_1", "pass_2")} if record else {}


# --- NVML -----------------------------------------------------------------------------------------------------------


class Metric(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("status", ctypes.c_int), ("value", ctypes.c_double), ("names", ctypes.c_char_p * 3)]


class Request(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("n", ctypes.c_uint), ("sample1", ctypes.c_void_p), ("sample2", ctypes.c_void_p), ("metric", Metric * 512)]


class Profile:
    """Reads NVML's counters. Changes no setting of the device."""

    def __init__(self):
        self.nvml = None
        self.device = ctypes.c_void_p()
        for path in ["libnvidia-ml.so.1", *glob.glob("/usr/local/nvidia/lib*/libnvidia-ml.so.1"), *glob.glob("/usr/lib/*/libnvidia-ml.so.1"), *glob.glob("/usr/lib64/libnvidia-ml.so.1")]:
            try:
                nvml = ctypes.CDLL(path)
            except OSError:
                continue
            if not nvml.nvmlInit_v2() and not nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
                self.nvml = nvml
                return
        print("no NVML")

    def clock(self):
        mhz = ctypes.c_uint()
        return mhz.value if self.nvml and self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(mhz)) == 0 else 0

    def sample(self):
        sample = ctypes.c_void_p()
        if not self.nvml or self.nvml.nvmlGpmSampleAlloc(ctypes.byref(sample)):
            return None
        status = self.nvml.nvmlGpmSampleGet(self.device, sample)
        if status:
            print(f"GPM: NVML answers {status}")
            return None
        return sample

    def between(self, first, second):
        request = Request(version=1, n=len(METRICS), sample1=first, sample2=second)
        for i, number in enumerate(METRICS):
            request.metric[i].id = number
        status = self.nvml.nvmlGpmMetricsGet(ctypes.byref(request))
        if status:
            print(f"GPM: NVML answers {status}")
            return {}
        return {METRICS[request.metric[i].id]: request.metric[i].value for i in range(len(METRICS)) if request.metric[i].status == 0}


def watch(profile, tool, order, getter, seeds):
    """Returns the counters over those parts of a second in which the device was busiest."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: (bench(tool, order, getter, seeds, more=["--chunk-size", "100000"]), done.set()))
    thread.start()
    best, clocks = {}, []
    before = profile.sample()
    while not done.is_set() and before:
        time.sleep(0.25)
        now = profile.sample()
        if not now:
            break
        got = profile.between(before, now)
        clocks.append(profile.clock())
        if got.get("SM active", 0) > best.get("SM active", 0):
            best = got
        before = now
    thread.join()
    print(f"profile, order {order}, {getter}, {seeds} seeds: SM clock {max(clocks, default=0)} MHz; " +
          (", ".join(f"{k} {v:.1f} %" for k, v in best.items()) or "no counters"), flush=True)
    return max(clocks, default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--orders", default="8,4")
    parser.add_argument("--seeds", type=int, default=100000)
    parser.add_argument("--profile-seeds", type=int, default=2000000)
    parser.add_argument("--seconds", type=float, default=100, help="begin nothing more after these")
    parser.add_argument("--sms", type=int, default=132)
    parser.add_argument("--mhz", type=float, default=0, help="clock of the multiprocessors; default: as NVML says, else 1755")
    parser.add_argument("--only", default="", help="getters, with commas")
    parser.add_argument("--bench", default="", help="options of every run, for a try on another device")
    options = parser.parse_args()
    MORE.extend(options.bench.split())
    tool = os.path.abspath(options.tool)
    start = time.time()
    ceiling = json.loads(subprocess.run([os.path.join(os.path.dirname(tool), "test", "bench_ceilings"), "auto"], check=True, stdout=subprocess.PIPE).stdout)
    profile = Profile()
    clock = options.mhz
    orders = [int(o) for o in options.orders.split(",")]

    def wanted(order):
        all_of = ["prob", "det", "boot"] + (["ptt"] if order == orders[0] else [])
        return [g for g in all_of if not options.only or g in options.only.split(",")]

    for order in orders[:1]:
        for getter in wanted(order):
            seeds = options.profile_seeds if getter in ("prob", "det") else options.profile_seeds // 4 if getter == "boot" else options.profile_seeds // 8
            clock = max(clock, watch(profile, tool, order, getter, seeds)) if profile.nvml else clock
    clock = clock or 1755
    for order in orders:
        getters = ",".join(wanted(order))
        base = bench(tool, order, getters, options.seeds, repeat=3)
        if not base:
            continue
        plain = times(base)
        columns = {c["dg"]: c for c in base["columns"]}
        keys = [(g, p) for g in wanted(order) for p in ("pass_2", "pass_1") if plain.get((g, p))]
        # number of turns: one direction for each point, and one more for the end of each half; steps of ptt are shorter
        turns = {}
        for g, p in keys:
            c = columns[g]
            steps = max(1, round(c["parameters"]["step_size_mm"] / c["parameters"]["ptt_substep_mm"])) if "ptt_substep_mm" in c["parameters"] else 1
            turns[g, p] = c["points"] * steps + 2 * c["streamlines"] if p == "pass_2" else c["seeds"]
        rows = {key: {} for key in keys}
        names = ["issue", "texture", "groups 1", "groups 2", "latency", "shuffle", "groups 3", "integer", "groups 4"]
        if order != orders[0]:
            names = names[:5]
        variants = [(n, PROBES.get(n), 0 if n in PROBES else int(n.split()[1])) for n in names]
        for name, probe, groups in variants:
            if time.time() - start > options.seconds:
                print(f"no time for {name} of order {order}")
                continue
            with tempfile.TemporaryDirectory() as folder:
                write_shaders(folder, probe and probe[0], groups * options.sms)
                got = bench(tool, order, getters, options.seeds, folder)
            same = got and all(c["points"] == columns[c["dg"]]["points"] for c in got["columns"])
            if got and not same:
                print(f"{name}: other points")
            for key in keys if got else []:
                seconds = times(got)[key]
                if groups:
                    rows[key][name] = f"{seconds / plain[key]:.2f}"
                    continue
                warps = turns[key] * (1 if columns[key[0]]["lanes"] >= 32 else columns[key[0]]["lanes"] / 32)
                rate = options.sms * clock * 1e6
                cost = {"issue": warps * probe[1] / (4 * rate), "integer": warps * probe[1] / (2 * rate), "shuffle": warps * probe[1] / rate,
                        "latency": 0, "texture": warps * 32 * probe[1] / ceiling["trilinear_samples_per_second"]}[name]
                grown = 1e3 * (seconds - plain[key])
                rows[key][name] = f"{grown:.2f} ms" + (f", {grown / (1e3 * cost):.2f}" if cost and cost < 1e3 else "")
        print(f"\norder {order}, {options.seeds} seeds, {base['devices'][0]['renderer']}, clock taken as {clock:.0f} MHz, ceilings {ceiling}")
        for key in keys:
            c = columns[key[0]]
            print(f"{key[0]} {key[1]}: {1e3 * plain[key]:.2f} ms, {turns[key]:.3g} turns; " + "; ".join(f"{k}: {v}" for k, v in rows[key].items()), flush=True)
    print(f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
