"""Runs a command at a terminal of its own, presses Ctrl-C once it has shown a text,
and prints what it says on standard error. Exits as the command does."""

import os
import pty
import select
import signal
import subprocess
import sys
import time

SECONDS = 60


def main():
    text, command = sys.argv[1].encode(), sys.argv[2:]
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(command, stderr=theirs, start_new_session=True)
    os.close(theirs)
    said = b""
    interrupted = False
    end = time.monotonic() + SECONDS
    while True:
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            process.kill()
            break
        try:
            said += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if text in said and not interrupted:
            process.send_signal(signal.SIGINT)
            interrupted = True
    sys.stdout.write(said.decode().replace("\r", "\n"))
    status = process.wait()
    if not interrupted or time.monotonic() >= end:
        sys.exit(f"error: expected '{sys.argv[1]}' and an end within {SECONDS} s")
    sys.exit(status)


if __name__ == "__main__":
    main()
