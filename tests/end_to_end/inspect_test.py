import unittest

from verbs import VerbTest


def field(after, name):
    return next(f for f in after["fields"] if f["name"] == name)


class Inspect(VerbTest):
    def test_a_folder_tells_classes_sizes_and_what_decoding_gives(self):
        self.shapes("photos", 30)
        seen = self.json("inspect", "photos")
        self.assertEqual((seen["kind"], seen["cardinality"]), ("image folder", 30))
        self.assertEqual(seen["classes"]["circle"], 3)
        self.assertEqual((seen["sizes"]["width"]["median"], seen["sizes"]["height"]["median"]), (64, 48))
        image = field(seen["operators"][-1], "image")
        self.assertEqual((image["dtype"], image["shape"]), ("uint8", "48x64x3"))

    def test_operators_come_in_the_order_given(self):
        self.shapes("photos", 20)
        seen = self.json("inspect", "photos", "--shuffle", "--resize", "40x40", "--random-crop", "32", "--normalize",
                         "--layout", "chw", "--batch", 8)
        words = [op["operator"].split("(")[0] for op in seen["operators"]]
        self.assertEqual(words, ["image_folder", "shuffle", "decode", "resize", "random_crop", "normalize",
                                 "layout", "batch"])
        shapes = [field(op, "image")["shape"] for op in seen["operators"][2:]]
        self.assertEqual(shapes, ["48x64x3", "40x40x3", "32x32x3", "32x32x3", "3x32x32", "8x3x32x32"])
        self.assertLess(field(seen["operators"][-1], "image")["min"], 0)

    def test_records_show_every_feature(self):
        self.shapes("photos", 10)
        self.headway("convert", "photos", "records")
        seen = self.json("inspect", "records/*.tfrecord", "--take", 2)
        kinds = {f["name"]: f["dtype"] for f in seen["features"]}
        self.assertEqual(kinds, {"image/encoded": "string", "image/class/label": "int64", "image/class/text": "string",
                                 "image/height": "int64", "image/width": "int64", "image/format": "string",
                                 "image/filename": "string"})

    def test_text_and_ledgers_are_understood(self):
        (self.folder / "lines.txt").write_text("one\ntwo\nthree\n")
        seen = self.json("inspect", "lines.txt")
        self.assertEqual((seen["kind"], seen["operators"][0]["elements"]), ("text", 3))
        (self.folder / "bad.jsonl").write_text('{"file":"a.jpg","offset":7,"reason":"cut"}\n')
        self.assertEqual(field(self.json("inspect", "bad.jsonl")["operators"][0], "offset")["max"], 7)

    def test_the_sheet_is_a_png_larger_than_its_pictures(self):
        self.shapes("photos", 10)
        self.headway("inspect", "photos", "--sheet", "sheet.png", "--sheet-count", 6)
        png = (self.folder / "sheet.png").read_bytes()
        self.assertTrue(png.startswith(b"\x89PNG"))
        width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
        self.assertGreater(width, 3 * 200)
        self.assertGreater(height, 2 * 150)

    def test_what_is_not_there_is_said(self):
        self.assertIn("photos/nothing", self.fails("inspect", "photos/nothing"))
        (self.folder / "empty").mkdir()
        self.assertIn("empty", self.fails("inspect", "empty"))
        (self.folder / "text.txt").write_text("no image\n")
        self.assertIn("has no images", self.fails("inspect", "text.txt", "--resize", "32"))

    def test_a_corrupt_image_is_named(self):
        photos = self.shapes("photos", 10)
        (photos / "checkerboard/000004.jpg").write_bytes(b"this is no image")
        self.assertIn("photos/checkerboard/000004.jpg", self.fails("inspect", "photos"))


if __name__ == "__main__":
    unittest.main()
