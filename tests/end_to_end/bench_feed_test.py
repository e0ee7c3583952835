import unittest

from verbs import VerbTest


class BenchFeed(VerbTest):
    def test_folder_pattern_and_records_are_all_fed(self):
        self.shapes("photos", 30)
        self.headway("convert", "photos", "records")
        for name in ("photos", "photos/*/*.jpg", "records", "records/*.tfrecord"):
            out = self.json("bench", "feed", name, "--seconds", 0.1, "--threads", 2)
            self.assertGreater(out["images_per_s"], 0, name)
            self.assertGreater(out["cpu_ms_per_item"], 0)
            self.assertGreater(out["first_batch_ms"], 0)
            self.assertEqual(out["threads"], 2)
            self.assertEqual(out["verdict"], "healthy", out["sentence"])
            self.assertAlmostEqual(sum(stage["share"] for stage in out["stages"]), 1, places=3)

    def test_tasks_and_operators_are_what_runs(self):
        self.shapes("photos", 20)
        t3 = self.json("bench", "feed", "photos", "--task", "t3", "--mode", "fast", "--seconds", 0.05)
        self.assertIn("resize(64x64", t3["pipeline"])
        own = self.json("bench", "feed", "photos", "--shuffle", "--resize", "20x30", "--batch", 4, "--seconds", 0.05)
        self.assertIn("resize(20x30", own["pipeline"])
        self.assertIn("batch(4)", own["pipeline"])

    def test_people_get_a_table_and_a_sentence(self):
        self.shapes("photos", 20)
        said = self.headway("bench", "feed", "photos", "--seconds", 0.05, "--explain").stdout
        for expected in ("images/s", "CPU-ms/image", "first batch", "share", "limited by", "planned"):
            self.assertIn(expected, said)

    def test_a_corrupt_image_ends_it_by_name(self):
        photos = self.shapes("photos", 10)
        (photos / "star/000009.jpg").write_bytes(b"\xff\xd8\xff\xe0 broken")
        self.assertIn("photos/star/000009.jpg", self.fails("bench", "feed", "photos", "--seconds", 0.1))


if __name__ == "__main__":
    unittest.main()
