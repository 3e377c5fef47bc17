"""What scripts of comparisons share: a line for each check, and commands that have to succeed."""
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
    """The last line, and what a script exits with."""
    print(f"{len(failed)} checks failed" if failed else "all checks passed")
    return 1 if failed else 0


def run(*command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stderr
