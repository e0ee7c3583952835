#!/usr/bin/env python3
"""Writes the seeds of the record and safetensors fuzzers into tests/fuzz/corpus: python3 tests/fuzz/make_corpus.py"""
import gzip
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent / "corpus"


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def example(**features):
    entries = b"".join(
        field(1, field(1, name.encode()) + field(2, field(kind, values)))
        for name, (kind, values) in features.items()
    )
    return field(1, entries)


def save(folder, name, data):
    path = HERE / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


records = frame(b"one") + frame(b"") + frame(b"x" * 100)
save("tfrecord", "plain", b"\x00" + records)
save("tfrecord", "auto", b"\x03" + records)
save("tfrecord", "repaired", b"\x04" + records)
save("tfrecord", "deflated_here", b"\x0d" + records)
save("tfrecord", "gzip", b"\x01" + gzip.compress(records, mtime=0))
save("tfrecord", "gzip_twice", b"\x03" + gzip.compress(records, mtime=0) * 2)
save("tfrecord", "zlib", b"\x02" + zlib.compress(records))
save("tfrecord", "cut", b"\x00" + records[:-7])
save("tfrecord", "wrong_length", b"\x00" + b"\x01" + records[1:] + records)
save("tfrecord", "lines", b"\x00one\ntwo\r\n\nlast")

packed_ints = field(1, b"\x01\x7f" + b"\xff" * 9 + b"\x01")
packed_floats = field(1, struct.pack("<ff", 1.5, -2))
save("example", "all_kinds", example(i=(3, b"\x08\x05"), f=(2, packed_floats), b=(1, field(1, b"jpeg"))))
save("example", "packed", example(i=(3, packed_ints), d=(3, field(1, b"\x01\x02\x03"))))
save("example", "unpacked", example(f=(2, b"\x0d" + struct.pack("<f", 3) + b"\x0d" + struct.pack("<f", 4))))
save("example", "empty_lists", example(i=(3, b""), f=(2, b""), b=(1, b"")))
save("example", "twice", example(i=(3, b"\x08\x05")) + example(i=(3, b"\x08\x06")))
save("example", "empty", b"")


def tensor(dtype, shape, begin, end):
    return '{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (dtype, shape, begin, end)


OURS = '"__metadata__":{"epoch":"3","headway.format":"1","headway.xxh3":"%s"}' % ("0" * 32)
one = '{"w":' + tensor("F32", "[2,3]", 0, 24) + "}"
several = "{%s,%s}" % (OURS, ",".join([
    '"w":' + tensor("F64", "[1]", 0, 8), '"none":' + tensor("U16", "[0,3]", 8, 8),
    '"step":' + tensor("I64", "[]", 8, 16), '"mask":' + tensor("BOOL", "[2]", 16, 18)]))
save("safetensors", "plain", b"\x00\x00" + struct.pack("<Q", len(one)) + one.encode() + bytes(24))
save("safetensors", "one", b"\x01\x18" + one.encode())
save("safetensors", "hashed", b"\x03\x12" + several.encode() + b"   ")
save("safetensors", "wrong_hash", b"\x01\x12" + several.encode())
save("safetensors", "half", b"\x01\x08" + b'{"w":' + tensor("BF16", "[4]", 0, 8).encode() + b"}")
save("safetensors", "cut", b"\x01\x10" + one.encode())
save("safetensors", "empty", b"\x01\x00{}")
save("safetensors", "huge_number", b"\x01\x001e999")
