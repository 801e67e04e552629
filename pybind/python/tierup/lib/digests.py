"""Base64, checksums and digests, for which Python is asked: they are C there."""

import binascii
import hashlib
import zlib

from .._calls import python_caller


def _encoded(data, newline):
    return binascii.b2a_base64(data, newline=newline)


def _decoded(data, strict):
    return binascii.a2b_base64(data, strict_mode=strict)


def _digested(name, data):
    return hashlib.new(name, data, usedforsecurity=False).digest()


_b2a = python_caller(_encoded, "data, newline", "bytes")
_a2b = python_caller(_decoded, "data, strict", "bytes")
_crc = python_caller(zlib.crc32, "data, value", "int")
_adler = python_caller(zlib.adler32, "data, value", "int")
_digest = python_caller(_digested, "name, data", "bytes")


def b2a_base64(data, newline):
    return _b2a(bytes(data), bool(newline))


def a2b_base64(data, strict_mode):
    return _a2b(data if isinstance(data, str) else bytes(data), bool(strict_mode))


def crc32(data, value):
    return _crc(bytes(data), value)


def adler32(data, value):
    return _adler(bytes(data), value)


class Digest:
    """What the functions of ``hashlib`` give."""

    def __init__(self, name, digest_size, block_size, data):
        self.name, self.digest_size, self.block_size = name, digest_size, block_size
        self._parts = [b"" if data is ... else bytes(data)]
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def update(self, data):
        self._parts.append(bytes(data))

    def digest(self):
        return _digest(self.name, b"".join(self._parts))

    def hexdigest(self):
        return self.digest().hex()

    def copy(self):
        return Digest(self.name, self.digest_size, self.block_size, b"".join(self._parts))


def md5(string, usedforsecurity):
    return Digest("md5", 16, 64, string)


def sha1(string, usedforsecurity):
    return Digest("sha1", 20, 64, string)


def sha224(string, usedforsecurity):
    return Digest("sha224", 28, 64, string)


def sha256(string, usedforsecurity):
    return Digest("sha256", 32, 64, string)


def sha384(string, usedforsecurity):
    return Digest("sha384", 48, 128, string)


def sha512(string, usedforsecurity):
    return Digest("sha512", 64, 128, string)
