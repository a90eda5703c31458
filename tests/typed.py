"""typed.py SHELL WORDS …: types each of WORDS and TAB at a shell's prompt, and prints what stands there then, a line each.

The shell's prompt ends with `READY> `.
"""
import os
import pty
import re
import select
import shlex
import sys
import time

PATIENCE = 60


def until(terminal, mark):
    """What the terminal shows until `mark` matches it."""
    shown, end = "", time.monotonic() + PATIENCE
    while not re.search(mark, shown):
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"{mark!r} did not come: {shown!r}")
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def main():
    child, terminal = pty.fork()
    if child == 0:
        words = shlex.split(sys.argv[1])
        os.execvp(words[0], words)
    until(terminal, "READY> ")
    for words in sys.argv[2:]:
        # Line editors read what is typed ahead in order. At the beginning goes a command that shows the words, at the end a mark.
        os.write(terminal, f"{words}\t\x01printf '<%s>\\n' \x05 END\r".encode())
        shown = until(terminal, "(?s:<END>.*READY> )")
        print(" ".join(re.findall(r"<([^%>\x1b]*)>", shown)[:-1]), flush=True)
    os.write(terminal, b"exit\r")


main()
