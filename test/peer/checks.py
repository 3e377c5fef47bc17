"""What scripts of comparisons share: a line for each check, and commands that have to succeed."""
import os
import subprocess
import sys

failed = []


def check(good, text):
    print(("ok   " if good else "FAIL ") + text, flush=True)
    if not good:
        failed.append(text)


def run(*command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stderr
