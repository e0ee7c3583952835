#!/usr/bin/env python3
"""Writes the seeds of the fuzzers, but for those of images, into tests/fuzz/corpus: python3 tests/fuzz/make_corpus.py"""
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
save("safetensors", "nested", b"\x05\xff" + b'{"dtype":"U8"}')
save("safetensors", "later_format", b"\x03\x12" + several.replace('format":"1"', 'format":"2"').encode())

DEEP = "[" * 200 + "]" * 200

lengths = struct.pack("<5I", 3, 0, 5, 12, 1)
save("index", "right", b"\x07" + bytes(40) + lengths + bytes(4))
save("index", "wrapping_count", b"\x01" + bytes(32) + b"\xff" * 8)
save("index", "huge_count", b"\x03" + bytes(32) + struct.pack("<Q", 1 << 62) + lengths + bytes(4))
save("index", "empty", b"\x00")

SAMPLE = """{"kind":"sample","at_s":0.25,"phase":"step","steps":7,"times":{"forward":0.5},"loss_sum":null,\
"stages":[{"in":70,"op_busy_s":[0.4]}],"files":{"opens":3},"system":{"cpu_s":1.5},"gpu":{"busy_s":1}}"""
OUTSIDE = """{"kind":"outside","seen":true,"pid":7,"command":"python train.py","processes":[{"pid":7,"role":"main",\
"stack":[{"file":"a.py","function":"f","line":3,"users":true}]}],"stacks":[{"samples":2,"frames":[{}]}],\
"threads":[{"name":"x","count":2}],"values":[{"name":"n","value":"1"}],"gpus":[{"name":"g"}],"progress":{"loss":null},\
"output":{"lines":3,"remarks":["r"],"raised_at":{"line":1}},"endless":["f"],"exit_status":0}"""
REST = """{"kind":"run","program":"p","cpus":1.5,"callbacks":["c"]}
{"kind":"stages","stages":[{"name":"map","depth":0,"max_workers":2,"ops":[{"name":"map","pixels":true}]}]}
{"kind":"weights","weights":[{"name":"w","values":6,"kernel":true}],"layers":["dense"]}
{"kind":"replay","batch_size":8,"step_s":0.5}
{"kind":"phase","name":"first batch","at_s":0.5,"seconds":0.25}
{"kind":"numbers","step":5,"gradients":[null,1],"updates":[0.125],"dead_units":[0],"outputs":[1],"input_std":2}
{"kind":"epoch","epoch":1,"steps":7,"logs":[["loss",0.5],["odd",null]]}
{"kind":"note","note":"warning","at_s":1,"text":"t"}
{"kind":"end","ending":"finished"}
"""
save("trace", "whole", b"\x00" + b'{"kind":"headway-trace","version":2}\n' + REST.encode())
save("trace", "rest", b"\x01" + REST.encode())
save("trace", "sample", b"\x01" + SAMPLE.encode() + b"\n")
save("trace", "outside", b"\x01" + OUTSIDE.encode() + b"\n")
save("trace", "cut", b"\x01" + SAMPLE.encode()[:90])
save("trace", "deep", b"\x01" + ('{"kind":"note","text":%s}\n{}\n' % DEEP).encode())
save("trace", "later_version", b'\x00{"kind":"headway-trace","version":3}\n')

STATE = """{"accumulated":0,"callbacks":{"csv":"a,b"},"description":"d","epoch":1,"history":[[["loss",4602678819172646912]]],\
"iterations":7,"learning_rate_scale":4607182418800017408,"loss":[0,0],"metrics":[[0,0]],"pipeline":"{}","step":7,\
"step_in_epoch":3,"stopped_by":"","threads":[2,1,0],"version":1}"""
save("training", "whole", STATE.encode())
save("training", "at_the_start", STATE.replace('"{}"', "null").encode())
save("training", "no_loss", STATE.replace('"loss":[0,0]', '"loss":[]').encode())
save("training", "history_of_lists", STATE.replace('[["loss",4602678819172646912]]', "[[]]").encode())
save("training", "deep", STATE.replace('"d"', DEEP).encode())
save("training", "later_version", STATE.replace('"version":1', '"version":2').encode())


def entry(number, payload, length=None):
    head = struct.pack("<qQI", number, len(payload) if length is None else length, crc32c(payload))
    return head + struct.pack("<I", crc32c(head)) + payload


def element(dtype, shape, values, name=b"value", origin=b""):
    return (struct.pack("<Q", len(origin)) + origin + struct.pack("<qIQ", -1, 1, len(name)) + name
            + struct.pack("<BB%dq" % len(shape), dtype, len(shape), *shape) + values)


number = element(3, [], struct.pack("<q", 7))
texts = element(7, [2], struct.pack("<Q", 1) + b"x" + struct.pack("<Q", 0))
save("cache", "two", b"\x03" + entry(0, number) + entry(1, texts) + entry(-1, struct.pack("<q", 2)))
save("cache", "image", b"\x03" + entry(0, element(0, [2, 2, 3], bytes(12), origin=b"a.jpg")))
save("cache", "element", b"\x04" + texts)
save("cache", "bools", b"\x04" + element(6, [3], b"\x00\x01\x02"))
save("cache", "shape_that_overflows", b"\x04" + element(5, [1 << 32, 1 << 32], bytes(64)))
save("cache", "negative_shape", b"\x04" + element(0, [-2, -4], bytes(8)))
save("cache", "many_texts", b"\x04" + element(7, [1 << 60], bytes(8)))
save("cache", "loop", b"\x03" + entry(7, b"", length=(1 << 64) - 24))
save("cache", "wrong_count", b"\x03" + entry(0, number) + entry(-1, struct.pack("<q", 1 << 60)))
save("cache", "foreign", b"\x00my notes")
save("cache", "other_pipeline", b"\x00HWCACHE1" + struct.pack("<Q", 8) + b"range(4)")
save("cache", "later_version", b"\x00HWCACHE2" + struct.pack("<Q", 8) + b"range(3)")
save("cache", "cut_header", b"\x00HWCACHE1" + struct.pack("<Q", 8) + b"ran")

LINE = '{"file":"a.jpg","offset":12,"reason":"cut short"}\n'
save("ledger", "two", (LINE * 2).encode())
save("ledger", "cut", (LINE + LINE[:20]).encode())
save("ledger", "wrong_kinds", b'{"file":[],"offset":"x"}\n[]\n7\n')
save("ledger", "deep", (LINE + DEEP + "\n").encode())

MANIFEST = '{"version":1,"settings":{"resize":[32,32],"shards":4,"source":"photos"},"finished":false}'
save("manifest", "same", MANIFEST.encode())
save("manifest", "other", MANIFEST.replace("4", "8").encode())
save("manifest", "without_version", MANIFEST.replace('"version":1,', "").encode())
save("manifest", "later_version", MANIFEST.replace('"version":1', '"version":2').encode())
save("manifest", "deep", MANIFEST.replace('"photos"', DEEP).encode())
save("manifest", "no_object", b"[]")

TOML = 'data = "photos"  # comment\nepochs = 3\nlearning-rate = 1e-3\naugment = true\nmodel = \'resnet18\'\nseed = 0xff\n'
save("run_toml", "plain", TOML.encode())
save("run_toml", "wrong_kinds", b'epochs = "x"\nbatch = [1, 2]\n')
save("run_toml", "table", b"[train]\nepochs = 3\n[[a]]\nb = {c = 1979-05-27T07:32:00Z}\n")
save("run_toml", "dots", b"a" + b".a" * 300 + b" = 1\n")
save("run_toml", "texts", b'data = """\na\\"""b""""\nsave = \'\'\'c\'\'\'\'\n')
save("run_toml", "deep", b"data = " + b"[" * 300 + b"]" * 300)
save("run_toml", "numbers", b"momentum = nan\nwarmup = -9223372036854775808\nclip-norm = inf\n")

for i in range(11):
    save("position", "zeros_%d" % i, bytes([i]) + b"\x07\x00" * 8)
    save("position", "ones_%d" % i, bytes([i]) + b"\x07\x01\x07\x00" * 4)
save("position", "negative", b"\x00\x00\x01")
save("position", "huge", b"\x09\x01\x00" * 4)

save("doctor", "whole", REST.encode())
save("doctor", "outside", (OUTSIDE + "\n").encode())
save("doctor", "samples", "\n".join(
    [SAMPLE.replace('"steps":7', '"steps":%d' % (7 * i)).replace("0.25", str(i)) for i in range(1, 6)]).encode())
save("doctor", "all", (REST.replace('{"kind":"end","ending":"finished"}\n', "") + SAMPLE + "\n" + OUTSIDE + "\n").encode())
