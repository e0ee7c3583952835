import json
import os
import signal
import struct
import subprocess
import time
import unittest
import zlib

from verbs import HEADWAY, VerbTest, contents


class Convert(VerbTest):
    def test_there_and_back_every_byte_is_the_same(self):
        photos = self.shapes("photos", 40)
        for options in ([], ["--shards", 3, "--shuffle", 1], ["--compress", "gzip"], ["--compress", "zlib"]):
            name = "_".join(map(str, options)).replace("--", "") or "plain"
            self.headway("convert", "photos", f"{name}-records", *options)
            self.headway("convert", f"{name}-records", f"{name}-back")
            self.assertEqual(contents(self.folder / f"{name}-back", "*.jpg"), contents(photos), name)

    def test_nested_folders_survive(self):
        photos = self.shapes("photos", 10)
        (photos / "circle/deep/er").mkdir(parents=True)
        (photos / "circle/000000.jpg").rename(photos / "circle/deep/er/000000.jpg")
        self.headway("convert", "photos", "records")
        self.headway("convert", "records", "back")
        self.assertEqual(contents(self.folder / "back", "*.jpg"), contents(photos))

    def test_the_index_comes_with_the_shards(self):
        self.shapes("photos", 20)
        self.headway("convert", "photos", "records", "--shards", 2)
        self.assertEqual(sorted(p.name for p in (self.folder / "records").glob("data*")),
                         ["data-00000-of-00002.tfrecord", "data-00000-of-00002.tfrecord.hwidx",
                          "data-00001-of-00002.tfrecord", "data-00001-of-00002.tfrecord.hwidx"])

    def test_resized_images_have_the_size_asked_for(self):
        self.shapes("photos", 10)
        self.headway("convert", "photos", "records", "--resize", "shorter:24", "--format", "png")
        sizes = self.json("inspect", "records")["sizes"]
        self.assertEqual((sizes["width"]["max"], sizes["height"]["max"], sizes["formats"]), (32, 24, {"PNG": 10}))

    def test_killed_at_any_moment_it_goes_on_to_the_same_shards(self):
        self.shapes("photos", 400)
        command = ["convert", "photos", "whole", "--shards", 8, "--shuffle", 1]
        started = time.monotonic()
        self.headway(*command)
        whole, took = contents(self.folder / "whole", "*.tfrecord"), time.monotonic() - started
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):
            name = f"killed-{share}"
            command[2] = name
            running = subprocess.Popen([HEADWAY, *map(str, command)], cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(share * took)
            running.send_signal(signal.SIGKILL)
            running.wait()
            self.headway(*command)
            self.assertEqual(contents(self.folder / name, "*.tfrecord"), whole)
            left = [p.name for p in (self.folder / name).iterdir() if ".partial" in p.name or p.suffix == ".tmp"]
            self.assertEqual(left, [])

    def test_killed_while_it_notes_its_settings_it_starts_anew(self):
        self.shapes("photos", 10)
        (self.folder / "records").mkdir()
        (self.folder / "records/headway-convert.json.123-0.tmp").write_text("{")
        self.headway("convert", "photos", "records")
        self.assertEqual(list((self.folder / "records").glob("*.tmp")), [])

    def test_finished_shards_are_kept(self):
        self.shapes("photos", 40)
        self.headway("convert", "photos", "records", "--shards", 4)
        (self.folder / "records/data-00002-of-00004.tfrecord").unlink()
        out = self.json("convert", "photos", "records", "--shards", 4)
        self.assertEqual((out["images"], out["kept"]), (10, 30))

    def test_other_settings_are_refused_naming_both(self):
        self.shapes("photos", 10)
        self.headway("convert", "photos", "records", "--shards", 2)
        self.assertIn("shards: 2 there, 5 wanted", self.fails("convert", "photos", "records", "--shards", 5))

    def test_a_folder_of_somebody_else_is_left_alone(self):
        self.shapes("photos", 10)
        self.assertIn("was not made by headway convert", self.fails("convert", "photos", "photos/circle"))

    def test_a_corrupt_image_ends_it_unless_it_may_be_skipped(self):
        photos = self.shapes("photos", 20)
        bad = photos / "ring/000006.jpg"
        bad.write_bytes(bad.read_bytes()[:1000])
        said = self.fails("convert", "photos", "records")
        self.assertIn("photos/ring/000006.jpg", said)
        self.assertIn("--skip-errors", said)
        out = self.json("convert", "photos", "records", "--skip-errors", 3, "--skip-log", "bad.jsonl")
        self.assertEqual((out["images"], out["skipped"]), (19, 1))
        lines = [json.loads(line) for line in (self.folder / "bad.jsonl").read_text().splitlines()]
        self.assertEqual([line["file"] for line in lines], ["photos/ring/000006.jpg"])

    def test_a_new_format_has_its_own_ending_after_unpacking(self):
        photos = self.shapes("photos", 10)
        (photos / "circle/same.jpg").write_bytes((photos / "circle/000000.jpg").read_bytes())
        (photos / "circle/same.jpeg").write_bytes((photos / "circle/000000.jpg").read_bytes())
        self.headway("convert", "photos", "records", "--format", "png")
        self.headway("convert", "records", "back")
        back = contents(self.folder / "back", "*.*g")
        self.assertEqual(len(back), 12)
        for name, data in back.items():
            self.assertEqual((name[-4:], data[:4]), (".png", b"\x89PNG"))
        self.assertIn("circle/same.jpg.png", back)

    def test_the_longest_names_unpack_as_they_pack(self):
        photos = self.shapes("photos", 10)
        jpeg = photos / "circle/000000.jpg"
        for length in (240, 245, 246, 255):
            (photos / "circle" / ("n" * (length - 4) + ".jpg")).write_bytes(jpeg.read_bytes())
        self.headway("convert", "photos", "records")
        self.headway("convert", "records", "back")
        self.assertEqual(contents(self.folder / "back", "*.jpg"), contents(photos))

    def test_a_name_that_no_file_can_have_is_of_its_record(self):
        jpeg = (self.shapes("photos", 10) / "circle/000000.jpg").read_bytes()
        write_record(self.folder / "long.tfrecord", {"image/encoded": jpeg, "image/filename": b"n" * 300 + b".jpg"})
        self.assertIn("long.tfrecord at byte 0: unpack: the class or file name of this record has 304 bytes",
                      self.fails("convert", "long.tfrecord", "back"))

    def test_a_hostile_name_stays_inside(self):
        photos = self.shapes("photos", 10)
        jpeg = (photos / "circle/000000.jpg").read_bytes()
        write_record(self.folder / "evil.tfrecord", {"image/encoded": jpeg, "image/class/text": b"../../up",
                                                     "image/filename": b"../../../out.jpg"})
        self.headway("convert", "evil.tfrecord", "back")
        self.assertEqual(list(contents(self.folder / "back", "*.jpg").values()), [jpeg])


class Shortage(VerbTest):
    """With too little of something no image is to blame: nothing is skipped, and the limit is named."""

    def limited(self, limits, *arguments):
        command = f"ulimit {limits} && exec \"$@\""
        done = subprocess.run(["bash", "-c", command, "bash", HEADWAY, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("skipped", done.stdout)
        return done.stderr

    def test_memory(self):
        photos = self.shapes("photos", 10)
        (photos / "circle/large.png").write_bytes(flat_png(20000, 10000))
        said = self.limited("-v 500000", "convert", "photos", "records", "--format", "jpeg", "--threads", 1,
                            "--skip-errors", 100)
        self.assertIn("out of memory: this process may take 488 MB of address space (ulimit -v)", said)
        self.assertNotIn("large.png", said)

    def test_descriptors(self):
        self.shapes("photos", 40)
        said = self.limited("-n 5", "convert", "photos", "records", "--threads", 4, "--skip-errors", 100)
        self.assertIn("may have 5 files open at once (ulimit -n)", said)

    def test_disk(self):
        self.shapes("photos", 100)
        self.headway("convert", "photos", "records")
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", disk], capture_output=True).returncode:
            self.skipTest("no tmpfs can be mounted here (not root)")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        for source in ("photos", "records"):
            said = self.fails("convert", source, disk / "out", "--skip-errors", 1000)
            self.assertIn("the disk that holds", said)
            self.assertIn("is full", said)
            self.assertIn("---> free some space on that disk", said)
            self.assertNotIn("replace that file", said)
            subprocess.run(["rm", "-r", disk / "out"], check=True)


class SpecialFiles(VerbTest):
    def test_what_is_no_file_is_refused_at_once_and_can_be_skipped(self):
        photos = self.shapes("photos", 10)
        os.mkfifo(photos / "circle/pipe.jpg")
        (photos / "circle/zero.jpg").symlink_to("/dev/zero")
        with open(photos / "circle/sparse.jpg", "wb") as sparse:
            sparse.truncate(300 << 30)
        self.assertIn("circle/pipe.jpg: pack: it is a named pipe, not an ordinary file", self.fails("convert", "photos", "refused"))
        out = self.json("convert", "photos", "records", "--skip-errors", 3, "--skip-log", "bad.jsonl")
        self.assertEqual((out["images"], out["skipped"]), (10, 3))
        reasons = [json.loads(line)["reason"] for line in (self.folder / "bad.jsonl").read_text().splitlines()]
        self.assertEqual(reasons[0], "pack: it is a named pipe, not an ordinary file")
        self.assertIn("the file has 322122547200 bytes, but at most 1073741824", reasons[1])
        self.assertEqual(reasons[2], "pack: it is a device, not an ordinary file")

    def test_so_are_records_text_and_ledgers(self):
        for name in ("x.tfrecord", "x.txt", "x.jsonl", "x.png"):
            os.mkfifo(self.folder / name)
            self.assertIn(f"{name}: it is a named pipe, not an ordinary file", self.fails("inspect", name))

    def test_a_loop_of_links_gives_each_image_once(self):
        photos = self.shapes("photos", 10)
        for name in ("a", "b"):
            (photos / "circle" / name).symlink_to("..")
            (photos / name).symlink_to(".")
        self.assertEqual(self.json("convert", "photos", "records")["images"], 10)


def flat_png(width, height):
    """Some pixels of one colour: large in memory, small in a file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packer = zlib.compressobj(1)
    pixels = b"".join(packer.compress(bytes(1 + 3 * width)) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def crc32c_masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def field(number, payload):
    size, length = len(payload), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


def write_record(path, features):
    """One tf.Example of bytes features, by hand: the names in it are nothing headway would write."""
    entries = b"".join(field(1, field(1, k.encode()) + field(2, field(1, field(1, v)))) for k, v in features.items())
    example = field(1, entries)
    length = struct.pack("<Q", len(example))
    path.write_bytes(length + struct.pack("<I", crc32c_masked(length)) + example +
                     struct.pack("<I", crc32c_masked(example)))


if __name__ == "__main__":
    unittest.main()
