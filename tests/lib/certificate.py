#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates that cell-publish never makes, made by another library: key, then certificate.

usage: certificate.py KIND FILE [FROM TO]   FROM and TO: minutes from now
KIND: ca | rsa | leaf | intermediate | version1 | no-sign | other-key | encrypted-key | no-key
"""

import datetime
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def main():
    kind, path = sys.argv[1:3]
    begin, end = (float(text) for text in (sys.argv[3:5] or ("-60", "60")))
    now = datetime.datetime.utcnow()
    key = ec.generate_private_key(ec.SECP256R1())
    if kind == "rsa":
        key = rsa.generate_private_key(65537, 2048)
    signer = ec.generate_private_key(ec.SECP256R1()) if kind == "intermediate" else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(name("test"))
        .issuer_name(name("root" if kind == "intermediate" else "test"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(minutes=begin))
        .not_valid_after(now + datetime.timedelta(minutes=end))
    )
    if kind != "version1":
        builder = builder.add_extension(x509.BasicConstraints(kind != "leaf", None), True)
    if kind == "no-sign":
        builder = builder.add_extension(
            x509.KeyUsage(True, False, False, False, False, False, False, False, False), True)
    certificate = builder.sign(signer, hashes.SHA256())
    if kind == "other-key":
        key = ec.generate_private_key(ec.SECP256R1())
    encryption = serialization.NoEncryption()
    if kind == "encrypted-key":
        encryption = serialization.BestAvailableEncryption(b"secret")
    with open(path, "wb") as stream:
        if kind != "no-key":
            stream.write(key.private_bytes(serialization.Encoding.PEM,
                                           serialization.PrivateFormat.PKCS8, encryption))
        stream.write(certificate.public_bytes(serialization.Encoding.PEM))


main()
