import json
import signal
import struct
import subprocess
import time
import unittest

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
        out = self.json("convert", "photos", "records", "--skip-errors", 3, "--ledger", "bad.jsonl")
        self.assertEqual((out["images"], out["skipped"]), (19, 1))
        lines = [json.loads(line) for line in (self.folder / "bad.jsonl").read_text().splitlines()]
        self.assertEqual([line["file"] for line in lines], ["photos/ring/000006.jpg"])

    def test_a_hostile_name_stays_inside(self):
        photos = self.shapes("photos", 10)
        jpeg = (photos / "circle/000000.jpg").read_bytes()
        write_record(self.folder / "evil.tfrecord", {"image/encoded": jpeg, "image/class/text": b"../../up",
                                                     "image/filename": b"../../../out.jpg"})
        self.headway("convert", "evil.tfrecord", "back")
        self.assertEqual(list(contents(self.folder / "back", "*.jpg").values()), [jpeg])


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
