#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tries one thing that a capability gives: 0 it was done, 1 the kernel refused, 3 it has no such thing.

usage: capability_trial.py NAME [ARGUMENT...]      NAME is a function below
"""
import ctypes
import errno
import os
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
PORT = 4711


def call(number, *arguments):
    """A system call by number; raises OSError."""
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a
                            for a in (number, *arguments)])
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call %d" % number)
    return result


def udp(address, text):
    """The control: what the policy is there to stop."""
    socket.socket(type=socket.SOCK_DGRAM).sendto(text.encode(), (address, PORT))


def receive(path):
    """Not a trial: writes down what arrives."""
    server = socket.socket(type=socket.SOCK_DGRAM)
    server.bind(("0.0.0.0", PORT))
    with open(path, "ab", buffering=0) as arrived:
        arrived.write(b"ready\n")
        while True:
            arrived.write(server.recv(1000) + b"\n")


def checksum(header):
    """RFC 1071."""
    total = sum(struct.unpack("!%dH" % (len(header) // 2), header))
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def net_raw(device, source, address, text):
    """A frame that no inet hook sees (packet(7))."""
    body = text.encode()
    datagram = struct.pack("!HHHH", PORT, PORT, 8 + len(body), 0) + body
    header = [0x45, 0, 20 + len(datagram), 1, 0, 64, socket.IPPROTO_UDP, 0,
              socket.inet_aton(source), socket.inet_aton(address)]
    header[7] = checksum(struct.pack("!BBHHHBBH4s4s", *header))
    frame = struct.pack("!BBHHHBBH4s4s", *header) + datagram
    packet = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
    packet.sendto(frame, (device, 0x0800, 0, 0, b"\xff" * 6))


def net_admin():
    """Takes the policy away."""
    if os.spawnlp(os.P_WAIT, "nft", "nft", "delete", "table", "inet", "seal"):
        raise PermissionError(errno.EPERM, "nft")


def sys_admin_enter(handle, address, text):
    """Leaves for a namespace that a handle of is at hand (setns(2))."""
    with open(handle, "rb") as namespace:
        if libc.setns(namespace.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
    udp(address, text)


def sys_admin_remount(volume, text):
    """Makes the read-only certificate volume writable, and publishes another address."""
    if libc.mount(None, volume.encode(), None, 0x20 | 0x1000, None):  # MS_REMOUNT | MS_BIND
        raise OSError(ctypes.get_errno(), "mount")
    with open(volume + "/proxy-ipv4", "w", encoding="ascii") as address:
        address.write(text)


def sys_module():
    """Whether the kernel would look at code to load into itself; what it gets is none."""
    try:
        call(175, b"no module", 9, b"")
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise


def sys_rawio(device):
    """Opens the machine's memory; nothing is read."""
    os.close(os.open(device, os.O_RDONLY))


def file_handle(path):
    """Not a trial: the handle of PATH in hexadecimal, type first (name_to_handle_at(2))."""
    size = 128
    buffer = ctypes.create_string_buffer(struct.pack("Ii", size, 0), 8 + size)
    mount = ctypes.c_int()
    call(303, -100, path.encode(), buffer, ctypes.byref(mount), 0)
    length, kind = struct.unpack_from("Ii", buffer.raw)
    print(kind, buffer.raw[8:8 + length].hex())


def dac_read_search(directory, kind, handle, text):
    """Opens a file by handle that no path leads to, and reads it."""
    raw = bytes.fromhex(handle)
    buffer = ctypes.create_string_buffer(struct.pack("Ii", len(raw), int(kind)) + raw)
    mount = os.open(directory, os.O_RDONLY)
    with open(call(304, mount, buffer, os.O_RDONLY), encoding="ascii") as secret:
        if secret.read() != text:
            sys.exit("read something else")


def bpf():
    """Loads a program into the kernel: r0 = 0; exit. Of a kind that is never for everybody."""
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xb7, 0, 0, 0) +
                                       struct.pack("<BBhi", 0x95, 0, 0, 0))
    license_text = ctypes.create_string_buffer(b"GPL")
    kind, sleepable = 31, 1 << 4  # BPF_PROG_TYPE_SYSCALL
    attributes = struct.pack("<IIQQIIQII", kind, 2, ctypes.addressof(code),
                             ctypes.addressof(license_text), 0, 0, 0, 0, sleepable)
    buffer = ctypes.create_string_buffer(attributes, 136)
    os.close(call(321, 5, buffer, 136))


def hold_socket(address, path):
    """Not a trial: a process outside the cell with a socket, as a proxy has them."""
    held = socket.socket(type=socket.SOCK_DGRAM)
    held.connect((address, PORT))
    with open(path, "w", encoding="ascii") as ready:
        ready.write("%d %d\n" % (os.getpid(), held.fileno()))
    time.sleep(300)


def sys_ptrace(pid, descriptor, text):
    """Takes a socket of another process and uses it (pidfd_getfd(2))."""
    taken = call(438, os.pidfd_open(int(pid)), int(descriptor), 0)
    os.write(taken, text.encode())


def sys_boot():
    """Ends every process of its pid namespace by reboot(2), this one too."""
    call(169, 0xfee1dead, 672274793, 0x1234567, None)


def perfmon():
    """Watches the kernel (perf_event_open(2)): the software clock, its own side included."""
    attributes = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 128, 0), 128)
    os.close(call(298, attributes, 0, -1, -1, 0))


def checkpoint_restore():
    """Opens what a process has mapped, by /proc/PID/map_files."""
    directory = "/proc/self/map_files/"
    os.close(os.open(directory + sorted(os.listdir(directory))[0], os.O_RDONLY))


def syslog():
    """Reads the kernel's log and where its functions lie."""
    call(103, 9, None, 0)
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        if int(symbols.readline().split()[0], 16) == 0:
            sys.exit("addresses are hidden")


def mknod(path):
    """Makes a node of a device: the host's disk has numbers too."""
    os.mknod(path, 0o20600, os.makedev(1, 3))


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](*sys.argv[2:])
    except OSError as problem:
        print(problem, file=sys.stderr)
        sys.exit({errno.EPERM: 1, errno.EACCES: 1, errno.ENOSYS: 3, errno.ENXIO: 3,
                  errno.ENOENT: 3}.get(problem.errno, 111))
