"""Runs a command on a terminal and prints what comes to it, with a new line that begins with "~ "
wherever the command begins its line anew. Ends as the command; with status 3 if it writes over the
end of a line it begins anew, or does not end with a newline.

  terminal.py [--columns N] [--type TERM] COMMAND ...
"""

import argparse
import fcntl
import os
import pty
import struct
import sys
import termios

ANEW = "\r\033[K"


def run(columns, term, command):
    """What comes to the terminal, and how the command ends."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.environ["TERM"] = term
        os.execvp(command[0], command)
    said = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the last program has closed it
            break
        if not part:
            break
        said += part
    return said.decode(errors="replace").replace("\r\n", "\n"), os.waitpid(process, 0)[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--type", default="xterm")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    said, status = run(arguments.columns, arguments.type, arguments.command)
    print(said.replace(ANEW, "\n~ "), end="")
    wide = [part for part in said.split(ANEW)[1:]
            if "\n" not in part and len(part) >= arguments.columns]
    if wide or not said.endswith("\n"):
        print("terminal.py: too wide:", wide, "; the end:", repr(said[-80:]))
        return 3
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
