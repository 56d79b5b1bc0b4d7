#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a real interactive zsh makes of command lines when Tab is pressed.

usage: zsh_complete.py FUNCTION_DIRECTORY <LINES >COMPLETED
Each line of standard input is typed in turn; what stands on zsh's command line after Tab is printed.
"""
import os
import pty
import select
import sys
import tempfile
import time


def main() -> int:
    """Starts zsh on a terminal of its own, types, and reads back what its editor holds."""
    with tempfile.TemporaryDirectory() as work:
        shown = os.path.join(work, "shown")
        setup = os.path.join(work, ".zshrc")
        with open(setup, "w", encoding="utf-8") as file:
            file.write(
                f"fpath=({sys.argv[1]} $fpath)\n"
                "autoload -Uz compinit; compinit -D -u\n"
                "show() { zle complete-word; print -r -- \"$BUFFER\" >>$SHOWN; zle kill-buffer }\n"
                "zle -N show; bindkey '^I' show\n"
                "print ready >>$SHOWN\n"
            )
        environment = dict(os.environ, ZDOTDIR=work, SHOWN=shown, TERM="dumb", LISTMAX="10000")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-i", "+o", "list_beep"], environment)
        expected = 1
        lines = [line.rstrip("\n") for line in sys.stdin]
        end = time.monotonic() + 60

        def wait() -> None:
            while time.monotonic() < end:
                ready, _, _ = select.select([terminal], [], [], 0.02)
                if ready:
                    os.read(terminal, 65536)
                if os.path.exists(shown):
                    with open(shown, encoding="utf-8") as file:
                        if file.read().count("\n") >= expected:
                            return
            raise TimeoutError("zsh does not answer")

        wait()
        for line in lines:
            os.write(terminal, line.encode() + b"\t")
            expected += 1
            wait()
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        with open(shown, encoding="utf-8") as file:
            sys.stdout.writelines(file.readlines()[1:])
    return 0


sys.exit(main())
