"""The check of bench/peers.py: which figures it reports as worse, with made-up figures."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import peers  # noqa: E402


def figure(ours, **others):
    return peers.Figure("GET", "µs", .5, {"respite": ours, **others})


class PeersTest(unittest.TestCase):
    def gate(self, first, *again, before, only=()):
        """Returns the number of rows that got worse, and the output. `again`: the figures of the repeated
        measurement."""
        with tempfile.TemporaryDirectory() as folder:
            baseline = pathlib.Path(folder) / "baseline.json"
            baseline.write_text(json.dumps({"version": "x", "rows": before}))
            results = iter(again)
            rows = {first.row: types.SimpleNamespace(figure=lambda *_: next(results))}
            options = types.SimpleNamespace(baseline=baseline, rounds=1, scale=1, only=only)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                return peers.gate([first], rows, [], options), said.getvalue()

    def test_the_ratio_is_to_the_best_peer(self):
        self.assertEqual(0.5, figure(1.0, a=4.0, b=2.0).ratio())
        self.assertEqual({"a": 0.25, "b": 0.5}, figure(1.0, a=4.0, b=2.0).ratios())

    def test_the_bare_loop_is_no_peer(self):
        row = peers.Row("GET", "µs", .5, lambda *_: {"respite": 1.0, "a": 4.0, "b": 2.0, "bare loop": .8})
        measured = row.figure([], 1, 1)
        self.assertEqual({"a": 0.25, "b": 0.5}, measured.ratios())
        self.assertEqual(0.4, measured.floor_ratio())
        self.assertIn("bare loop 0.800, 0.40", measured.line())
        self.assertIn("| GET | 1.00 | 0.25 | 0.50 | 0.50 met | 0.40 |", peers.table_of([measured]))
        self.assertIsNone(figure(1.0, a=4.0).floor_ratio())

    def test_the_same_figures_pass(self):
        count, said = self.gate(figure(1.04, a=2.0), before={"GET": {"a": 0.5}})
        self.assertEqual(0, count)
        self.assertIn("Nothing got worse", said)

    def test_what_is_worse_twice_fails(self):
        count, said = self.gate(figure(1.2, a=2.0), figure(1.1, a=2.0), before={"GET": {"a": 0.5}})
        self.assertEqual(1, count)
        self.assertIn("WORSE by 10 %: GET", said)

    def test_noise_that_is_gone_when_measured_again_passes(self):
        count, _ = self.gate(figure(1.2, a=2.0), figure(1.0, a=2.0), before={"GET": {"a": 0.5}})
        self.assertEqual(0, count)

    def test_a_peer_that_got_better_is_no_fault_of_ours(self):
        count, _ = self.gate(figure(1.0, a=1.0, b=2.0), before={"GET": {"a": 0.5, "b": 0.5}})
        self.assertEqual(0, count)

    def test_a_peer_that_the_baseline_does_not_know_does_not_count(self):
        count, _ = self.gate(figure(1.0, c=1.0), before={"GET": {"a": 0.5}})
        self.assertEqual(0, count)

    def test_a_row_that_is_gone_fails(self):
        count, said = self.gate(figure(1.0, a=2.0), before={"GET": {"a": 0.5}, "SET": {"a": 0.5}})
        self.assertEqual(1, count)
        self.assertIn("MISSING: SET", said)
        count, _ = self.gate(figure(1.0, a=2.0), before={"GET": {"a": 0.5}, "SET": {"a": 0.5}}, only=["GET"])
        self.assertEqual(0, count)

    def test_what_is_saved_is_the_next_baseline(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "baseline.json"
            peers.save([figure(1.0, a=2.0)], "7.2.4", path)
            self.assertEqual({"version": "7.2.4", "rows": {"GET": {"a": 0.5}}}, json.loads(path.read_text()))

    def test_the_page_keeps_what_stands_outside_of_its_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(f"before\n{peers.BEGIN}\nold\n{peers.END}\nafter\n")
            peers.write_page(page, [figure(1.0, a=4.0), peers.Figure("SET", "bytes", .2, {"respite": 1.0, "a": 4.0})], [])
            text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("| GET | 1.00 | 0.25 | 0.50 met |", text)
        self.assertIn("| SET | 1.00 | 0.25 | 0.20 **missed** |", text)

    def test_rows_have_different_names(self):
        names = [row.name for row in peers.all_rows()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
