"""Memory of `glslines view`: view_memory.py TOOL. After a large answer, a server at rest keeps little more than before, whatever the number of its threads. Prints
what fails."""

import json
import os
import random
import struct
import subprocess
import sys
import time

from view import Server, ask, check, failures, open_page

tool, = sys.argv[1:]
N, POINTS, MOST = 30000, 40, 8
random.seed(1)
os.mkdir("many.trx")
with open("many.trx/header.json", "w") as f:
    json.dump({"DIMENSIONS": [9] * 3, "VOXEL_TO_RASMM": [[9, 0, 0, -40], [0, 9, 0, -40], [0, 0, 9, -40], [0, 0, 0, 1]], "NB_VERTICES": N * POINTS, "NB_STREAMLINES": N}, f)
with open("many.trx/offsets.uint64", "wb") as f:
    f.write(struct.pack(f"<{N + 1}Q", *range(0, N * POINTS + 1, POINTS)))
# no point lies on the way from the one before to the next
some = [random.uniform(-30, 30) for _ in range(3 * POINTS * 1000)]
with open("many.trx/positions.3.float32", "wb") as f:
    for _ in range(N // 1000):
        f.write(struct.pack(f"<{len(some)}f", *some))


def memory(process):
    """MB that are not of files, when the server has rested."""
    time.sleep(2)
    with open(f"/proc/{process.pid}/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("RssAnon"))


for threads in ("1", "8"):
    process = subprocess.Popen([tool, "view", "many.trx", "--max-streamlines", "10", "-q"], stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": threads})
    try:
        with open_page(Server(process.stdout.readline().strip())) as page:
            used = []
            for sphere in ([900, 0, 0, 1], [0, 0, 0, 100]):
                said = ask(page, "select", shown=N, regions=[{"role": "include", "sphere": sphere}])
                check(said["shown"] == (N if sphere[0] == 0 else 0) and len(page.receive()) > 6 * POINTS * said["shown"], "selection", said)
                used.append(memory(process))
            check(used[1] - used[0] < MOST, "memory before and after an answer of", 6 * POINTS * N / 2**20, "MB:", used, "MB with threads:", threads)
    finally:
        process.terminate()
        process.wait()
sys.exit(len(failures) > 0)
