"""Predicts how long a run takes on N equal devices, from the phases of a run on one device that `glslines track --trace` wrote.

    python3 test/bench/devices.py TRACE.json[.gz] [N ...]

It plays what the program does (src/track/engine/batch.c, src/track/run): each device has a thread on the host that takes one batch after the other from one
queue of seeds and keeps the next pass of its device queued; one output thread hands over the results in the order of seeds. The durations of the phases are those
of the trace, batch by batch; host threads are taken to have a core each, and devices not to slow each other down. Compare the line of N = 1 with the trace itself, and
of N = 2 with a run on two devices, before you believe the others.
"""
import collections
import gzip
import heapq
import json
import sys

RESULTS = 16  # MANY of src/track/run/writer_thread.c: results that one worker may have in use
HOST = {"begin pass 1": "begin_1", "end pass 1": "end_1", "list": "list", "begin pass 2": "begin_2", "place": "place", "begin gather": "begin_3", "count visits": "begin_3",
        "read points": "read", "read visits": "read", "commit": "read"}
DEVICE = {"initial.comp": "pass_1", "track.comp": "pass_2", "gather.comp": "pass_3", "clear": "pass_3", "visit.comp": "pass_3"}


def read_trace(path):
    """Returns the seconds of each phase, batch by batch, and the seconds from the first to the last event of the device."""
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    thread = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    found, device = collections.defaultdict(list), []
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
        name, who, seconds = e["name"], thread[e["pid"], e["tid"]], e["dur"] / 1e6
        if who.startswith("host of device") and name in HOST:
            found[name].append(seconds)
        elif who == "output" and name == "hand over":
            found[name].append(seconds)
        elif name in DEVICE or name.startswith("copy to the"):
            device.append((e["ts"] / 1e6, e["ts"] / 1e6 + seconds))
            found["copies" if name not in DEVICE else name].append(seconds)
    n = len(found["track.comp"])
    phases = collections.defaultdict(lambda: [0.0] * n)
    for name, seconds in found.items():
        to = HOST.get(name) or DEVICE.get(name) or {"hand over": "hand_over", "copies": "pass_3"}[name]
        step = len(seconds) / n
        for i in range(n):  # a phase that some batches lack, or have twice, is spread over all
            phases[to][i] += sum(seconds[int(i * step):int((i + 1) * step)])
    return n, phases, max(b for _, b in device) - min(a for a, _ in device)


def worker(phases, state, index):
    """One host thread and its device. Yields ("take", time) for a batch and ("result", time, batch) for room in the output."""
    now, device, first_ends, ends = 0.0, 0.0, {}, {}

    def submit(seconds):
        nonlocal device
        device = max(device, now) + seconds
        state["busy"][index] += seconds
        return device

    def take():
        """Begins pass 1 of the next batch, if there is one."""
        nonlocal now
        batch = yield "take", now
        if batch is not None:
            now += phases["begin_1"][batch]
            first_ends[batch] = submit(phases["pass_1"][batch])
        return batch

    def begin(batch):
        """Begins pass 2 of a batch behind pass 1 of the next batch. Returns the next batch."""
        nonlocal now
        now = max(now, first_ends[batch]) + phases["end_1"][batch]
        following = yield from take()
        now += phases["list"][batch] + phases["begin_2"][batch]
        ends[batch] = submit(phases["pass_2"][batch])
        return following

    def deliver(packed):
        nonlocal now
        if packed:
            batch, ready = packed
            now = max(now, ready) + phases["read"][batch]
            state["sent"][batch] = now

    batch, packed = (yield from take()), None
    following = (yield from begin(batch)) if batch is not None else None
    while batch is not None:
        ahead = following
        if ahead is not None:
            following = yield from begin(ahead)
        now = max(now, ends[batch])
        deliver(packed)
        now = yield "result", now, batch
        now += phases["place"][batch] + phases["begin_3"][batch]
        packed = batch, submit(phases["pass_3"][batch])
        batch = ahead
    deliver(packed)


def play(n_batches, phases, n_devices):
    """Returns the seconds of the run, and the share of them in which the devices compute."""
    state = {"busy": [0.0] * n_devices, "sent": {}}
    workers = [worker(phases, state, i) for i in range(n_devices)]
    queue, waiting, used = [], [], [collections.deque() for _ in workers]
    handed, written, taken = {}, 0, 0
    for i, w in enumerate(workers):
        heapq.heappush(queue, (0.0, i, next(w)))
    def hand_over():
        nonlocal written
        while written in state["sent"]:
            handed[written] = max(handed.get(written - 1, 0.0), state["sent"][written]) + phases["hand_over"][written]
            written += 1

    while queue or waiting:
        hand_over()
        for entry in list(waiting):  # the batch waits until there is room in the output
            time, i, request = entry
            full = len(used[i]) >= RESULTS
            if not full or used[i][0] in handed:
                waiting.remove(entry)
                free = handed[used[i].popleft()] if full else 0.0
                used[i].append(request[2])
                heapq.heappush(queue, (max(time, free), i, None))
        time, i, request = heapq.heappop(queue)
        if request and request[0] == "result":
            waiting.append((time, i, request))
            continue
        answer = time
        if request:
            answer = taken if taken < n_batches else None
            taken += 1
        try:
            request = workers[i].send(answer)
            heapq.heappush(queue, (request[1], i, request))
        except StopIteration:
            pass
    hand_over()
    assert written == n_batches
    end = handed[n_batches - 1]
    return end, sum(state["busy"]) / (n_devices * end)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    n, phases, span = read_trace(sys.argv[1])
    print(f"{n} batches, {span:.2f} s from the first to the last work of the device in the trace")
    one = play(n, phases, 1)[0]
    for devices in [int(word) for word in sys.argv[2:]] or [1, 2, 4, 8]:
        seconds, busy = play(n, phases, devices)
        print(f"{devices} devices: {seconds:.2f} s, {one / seconds:.2f} times one, devices compute {100 * busy:.0f} %")


main()
