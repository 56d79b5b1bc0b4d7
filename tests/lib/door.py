#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tries one door, for the tests: prints "open" (exit 0), or how it is shut (exit 1).

usage: door.py NAME [ARGUMENT]...

"open" means that what lies behind was had: an answer, a descriptor, foreign memory. Where taking it
would change the machine, it means that the kernel got as far as judging deliberately bad arguments.
"""
import ctypes
import errno
import os
import platform
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

# Numbers that are the same everywhere, and the older ones of the two architectures we run on.
OLD = {
    "x86_64": {"ptrace": 101, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
               "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304,
               "setns": 308, "process_vm_readv": 310, "bpf": 321, "userfaultfd": 323,
               "mount": 165, "clone": 56},
    "aarch64": {"ptrace": 117, "add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97,
                "perf_event_open": 241, "name_to_handle_at": 264, "open_by_handle_at": 265,
                "setns": 268, "process_vm_readv": 270, "bpf": 280, "userfaultfd": 282,
                "mount": 40, "clone": 220},
}
NUMBER = {"io_uring_setup": 425, "fsopen": 430, "pidfd_open": 434, "clone3": 435,
          "pidfd_getfd": 438, "landlock_create_ruleset": 444, **OLD[platform.machine()]}
NEW_USER = 0x10000000


def call(name, *arguments):
    """The system call's result; OSError with its errno."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(NUMBER[name]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def judged(name, wanted, *arguments):
    """True if the kernel itself judged the bad arguments: it answers WANTED."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno != wanted:
            raise
    return True


def unix(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect("\0" + path[1:] if path.startswith("@") else path)
        return client.recv(64) == b"outside"


def family(number, kind, protocol="0"):
    """Creates the socket and nothing more: it is never connected or bound."""
    return libc_socket(int(number), int(kind), int(protocol)) >= 0


def libc_socket(number, kind, protocol):
    result = libc.socket(number, kind, protocol)
    if result < 0:
        raise OSError(ctypes.get_errno(), "socket")
    return result


def pidfd_getfd(pid):
    taken = call("pidfd_getfd", call("pidfd_open", int(pid), 0), 9, 0)
    return os.pread(taken, 6, 0) == b"secret"


def ptrace(pid):
    call("ptrace", 16, int(pid), 0, 0)  # PTRACE_ATTACH
    os.waitpid(int(pid), 0x40000000)  # __WALL
    call("ptrace", 17, int(pid), 0, 0)  # PTRACE_DETACH
    return True


def memory(pid, ready):
    """Foreign memory by process_vm_readv."""
    address = int(open(ready, encoding="ascii").read())
    got = ctypes.create_string_buffer(6)
    here = (ctypes.c_size_t * 2)(ctypes.addressof(got), 6)
    there = (ctypes.c_size_t * 2)(address, 6)
    call("process_vm_readv", int(pid), here, 1, there, 1, 0)
    return got.raw == b"secret"


def proc_memory(pid, ready):
    """Foreign memory by /proc/PID/mem."""
    address = int(open(ready, encoding="ascii").read())
    fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    return os.pread(fd, 6, address) == b"secret"


def proc_environ(pid):
    return b"CELL_SECRET=" in open(f"/proc/{pid}/environ", "rb").read()


def proc_root(pid, path):
    return os.stat(f"/proc/{pid}/root{path}") is not None


def kill(pid):
    os.kill(int(pid), 0)
    return True


def user_namespace():
    return call("unshare", NEW_USER) == 0


def clone_namespace(name):
    child = (call("clone", NEW_USER | signal.SIGCHLD, 0, 0, 0, 0) if name == "clone" else
             call("clone3", (ctypes.c_uint64 * 11)(NEW_USER, 0, 0, 0, signal.SIGCHLD), 88))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def key():
    call("add_key", b"user", b"cell-door", b"x", 1, -2)  # in this process's own keyring
    return judged("request_key", errno.ENOKEY, b"user", b"cell-door-none", 0, 0)


def handle():
    """The handle of this network namespace, opened again: on nsfs since Linux 6.18."""
    space = ctypes.create_string_buffer(8 + 128)
    ctypes.c_uint.from_buffer(space).value = 128
    mount = ctypes.c_int()
    fd = os.open("/proc/self/ns/net", os.O_RDONLY)
    call("name_to_handle_at", fd, b"", space, ctypes.byref(mount), 0x1000)
    return call("open_by_handle_at", fd, space, os.O_RDONLY) >= 0


def inherited():
    """Descriptor 9 is a socket of another namespace: which interfaces does it see?"""
    with socket.socket(fileno=os.dup(9)) as foreign:
        return foreign.getsockname()[0] == "198.18.7.7"


def wall():
    """Landlock with scopes, which cell-exec uses where the kernel has it: Linux 6.12."""
    return call("landlock_create_ruleset", 0, 0, 1) >= 6


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return True


def tiocsti():
    import fcntl
    import termios
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    return True


DOORS = {
    "unix": unix, "family": family, "pidfd_getfd": pidfd_getfd, "ptrace": ptrace,
    "memory": memory, "proc_memory": proc_memory, "proc_environ": proc_environ,
    "proc_root": proc_root, "kill": kill, "user_namespace": user_namespace,
    "clone_namespace": clone_namespace, "key": key, "handle": handle, "inherited": inherited,
    "write": write, "tiocsti": tiocsti, "wall": wall,
    "io_uring": lambda: judged("io_uring_setup", errno.EFAULT, 1, 0),
    "bpf": lambda: judged("bpf", errno.EINVAL, -1, 0, 0),
    "setns": lambda: judged("setns", errno.EBADF, -1, 0),
    "open_by_handle_at": lambda: judged("open_by_handle_at", errno.EFAULT, -100, 0, 0),
    "mount": lambda: judged("mount", errno.ENOENT, b"none", b"/nonexistent", b"tmpfs", 0, 0),
    "perf_event_open": lambda: judged("perf_event_open", errno.EFAULT, 0, 0, -1, -1, 0),
    "userfaultfd": lambda: call("userfaultfd", 1) >= 0,  # UFFD_USER_MODE_ONLY
}


def main():
    try:
        opened = DOORS[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print(errno.errorcode.get(error.errno, error.errno))
        return 1
    print("open" if opened else "nothing behind it")
    return 0 if opened else 1


sys.exit(main())
