# Sleeps as imports take long, and adds up a number of times in a region; then sleeps again.
import os
import sys
import time


def mark(end):
    if end in os.environ:
        os.write(int(os.environ[end]), b"x")


time.sleep(0.3)
mark("UNIXMARK_READY")
total = 0
for number in range(int(sys.argv[1])):
    total += number
os.stat("/")
mark("UNIXMARK_DONE")
os.stat("/")
os.stat("/")
time.sleep(0.05)
