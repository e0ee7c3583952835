import unittest

from verbs import VerbTest, contents


class MakeData(VerbTest):
    def test_the_same_seed_gives_the_same_files_whatever_the_threads(self):
        one = self.shapes("one", 30, "--threads", 1)
        three = self.shapes("three", 30, "--threads", 3)
        other = self.shapes("other", 30, "--seed", 5)
        self.assertEqual(contents(one), contents(three))
        self.assertEqual(contents(one).keys(), contents(other).keys())
        self.assertNotEqual(contents(one), contents(other))

    def test_every_class_gets_its_folder_and_its_share(self):
        folder = self.shapes("data", 30, "--classes", 3)
        self.assertEqual(sorted(p.name for p in folder.iterdir() if p.is_dir()), ["circle", "square", "triangle"])
        self.assertEqual(len(list((folder / "circle").iterdir())), 10)
        self.assertTrue((folder / "circle" / "000000.jpg").exists())

    def test_png_and_records_are_what_they_say(self):
        png = self.shapes("png", 10, "--format", "png")
        self.assertTrue((png / "circle/000000.png").read_bytes().startswith(b"\x89PNG"))
        self.shapes("records", 10, "--format", "tfrecord")
        seen = self.json("inspect", "records")
        self.assertEqual((seen["kind"], seen["cardinality"]), ("TFRecord with images", 10))

    def test_what_is_missing_is_made_again(self):
        folder = self.shapes("data", 20)
        before = contents(folder)
        (folder / "circle/000010.jpg").unlink()
        self.shapes("data", 20)
        self.assertEqual(contents(folder), before)

    def test_a_folder_of_somebody_else_is_left_alone(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/thesis.txt").write_text("years of work")
        self.assertIn("was not made by headway make-data", self.fails("make-data", "--out", "mine", "--count", 1))
        self.shapes("mine", 10, "--force")
        self.assertEqual((self.folder / "mine/thesis.txt").read_text(), "years of work")

    def test_other_settings_are_refused_and_forced(self):
        folder = self.shapes("data", 20)
        self.assertIn("made with other settings", self.fails("make-data", "--out", "data", "--count", 10))
        self.shapes("data", 10, "--force")
        self.assertEqual(len(list(folder.rglob("*.jpg"))), 10)

    def test_a_place_that_cannot_be_written_is_named(self):
        self.assertIn("/proc/nowhere", self.fails("make-data", "--out", "/proc/nowhere", "--count", 1))

    def test_json_says_how_it_went(self):
        out = self.json("make-data", "--out", "data", "--count", 5, "--width", 32, "--height", 32)
        self.assertEqual((out["count"], out["width"]), (5, 32))
        self.assertEqual(out["bytes"], sum(len(b) for b in contents(self.folder / "data").values()))


if __name__ == "__main__":
    unittest.main()
