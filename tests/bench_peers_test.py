"""bench/peers.py: its targets, its page, and which figures its check reports as worse, with made-up figures."""
import contextlib
import io
import json
import math
import os
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import peers  # noqa: E402
import side_by_side  # noqa: E402


def costs(target, ours, **others):
    return peers.Costs({"respite": ours, **others}, target)


def figure(ours, user=None, **others):
    return peers.Figure("GET", "µs", costs(peers.Target(.5), ours, **others), user)


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
        self.assertEqual(0.5, figure(1.0, a=4.0, b=2.0).costs.ratio())
        self.assertEqual({"a": 0.25, "b": 0.5}, figure(1.0, a=4.0, b=2.0).costs.ratios())
        self.assertEqual(2.0, figure(1.0, a=4.0, b=2.0).costs.best())

    def test_the_bare_loop_is_no_peer(self):
        row = peers.Row("GET", "µs", peers.Target(.5), lambda *_: ({"respite": 1.0, "a": 4.0, "b": 2.0, "bare loop": .8},
                                                                   {"respite": .2, "a": .5, "b": .4, "bare loop": .1}),
                        peers.Target(.45))
        measured = row.figure([], 1, 1)
        self.assertEqual({"a": 0.25, "b": 0.5}, measured.costs.ratios())
        self.assertEqual({"a": 0.4, "b": 0.5}, measured.user.ratios())
        self.assertEqual(0.4, measured.floor_ratio())
        cpu, user = measured.lines()
        self.assertTrue(cpu.endswith("0.50   target 0.50 met   bare loop 0.800, 0.40"), cpu)
        self.assertTrue(user.endswith("0.50   target 0.45 MISSED"), user)
        self.assertIn("| GET | 1.00 | 0.25 | 0.50 | 0.50 met | 0.40 |", peers.table_of([measured]))
        self.assertIn("| GET | 0.20 | 0.40 | 0.50 | 0.45 **missed** |", peers.table_of([measured], lambda one: one.user))
        self.assertIsNone(figure(1.0, a=4.0).floor_ratio())

    def test_a_row_needs_both_of_its_targets(self):
        user = peers.Target(.45)
        self.assertTrue(figure(1.0, costs(user, .4, a=1.0), a=2.0).is_met())
        self.assertFalse(figure(1.0, costs(user, .5, a=1.0), a=2.0).is_met())
        self.assertFalse(figure(1.1, costs(user, .4, a=1.0), a=2.0).is_met())
        self.assertTrue(figure(1.0, a=2.0).is_met())

    def test_targets_are_a_share_or_absolute_or_both(self):
        both = peers.Target(.85, absolute=100)
        self.assertEqual("0.85, at most 100 bytes", both.text("bytes"))
        self.assertTrue(costs(both, 100, a=120).is_met())
        self.assertFalse(costs(both, 100, a=110).is_met())
        self.assertFalse(costs(both, 101, a=200).is_met())
        absolute = peers.Target(absolute=.8)
        self.assertEqual("at most 0.8 µs", absolute.text("µs"))
        self.assertTrue(costs(absolute, .8, a=.1).is_met())
        self.assertFalse(costs(absolute, .81, a=9).is_met())

    def test_a_peer_without_user_time_in_a_short_run(self):
        self.assertEqual(math.inf, costs(peers.Target(.45), 0.0, a=0.0).ratio())
        self.assertFalse(costs(peers.Target(.45), 0.0, a=0.0).is_met())

    def test_targets_of_rows(self):
        rows = {row.name: row for row in peers.all_rows()}
        for name, cpu, user in (("GET", ".70", ".45"), ("SET, pipeline 64", ".70", ".45"), ("GET, TLS", ".70", ".45"),
                                ("XADD, a replica", ".50", ".35"), ("MSET 10", ".50", ".35"), ("ZRANGE 10", ".50", ".35"),
                                ("ZADD, 1 M members", ".50", ".35")):
            with self.subTest(name):
                self.assertEqual((peers.Target(float(cpu)), peers.Target(float(user))), (rows[name].target, rows[name].user_target))
        self.assertEqual((peers.Target(.88), peers.Target(absolute=.8)),
                         (rows["SET, pipeline 1"].target, rows["SET, pipeline 1"].user_target))
        self.assertEqual(peers.Target(.85, absolute=100), rows["memory: strings of 64 bytes"].target)
        self.assertIsNone(rows["memory: strings of 64 bytes"].user_target)
        self.assertEqual(peers.Target(.65), rows["memory: small hashes"].target)

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
        count, said = self.gate(figure(1.0, c=1.0), before={"GET": {"a": 0.5}})
        self.assertEqual(0, count)
        self.assertIn("Not compared, because baseline.json has no figures of these rows with these servers: GET", said)

    def test_one_known_peer_is_enough(self):
        _, said = self.gate(figure(1.0, a=2.0, c=1.0), before={"GET": {"a": 0.5}})
        self.assertNotIn("Not compared", said)
        count, _ = self.gate(figure(1.2, a=2.0, c=1.0), figure(1.1, a=2.0, c=1.0), before={"GET": {"a": 0.5}})
        self.assertEqual(1, count)

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

    def test_user_time_is_no_part_of_the_baseline(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "baseline.json"
            peers.save([figure(1.0, costs(peers.Target(.45), .3, a=1.0), a=2.0)], "7.2.4", path)
            self.assertEqual({"GET": {"a": 0.5}}, json.loads(path.read_text())["rows"])

    def test_figures_as_json(self):
        measured = figure(1.0, costs(peers.Target(absolute=.8), .3, a=1.0), a=2.0)
        row = json.loads(json.dumps(peers.as_json([measured], [])))["rows"][0]
        self.assertEqual({"by_server": {"respite": .3, "a": 1.0}, "target": {"share": None, "absolute": .8}}, row["user"])

    def test_the_page_keeps_what_stands_outside_of_its_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(f"before\n{peers.BEGIN}\nold\n{peers.END}\nafter\n")
            cpu = figure(1.0, costs(peers.Target(absolute=.8), .3, a=1.0), a=4.0)
            peers.write_page(page, [cpu, peers.Figure("SET", "bytes", costs(peers.Target(.2), 1.0, a=4.0))], [])
            text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("| GET | 1.00 | 0.25 | 0.50 met |", text)
        self.assertIn("| SET | 1.00 | 0.25 | 0.20 **missed** |", text)
        self.assertIn("| GET | 0.30 | 0.30 | at most 0.8 µs met |", text)
        self.assertEqual(["**Server CPU per request** User and system time.", "**User time per request** Without the kernel's part.",
                          "**Memory per entry**"], [line.split(" It is")[0] for line in text.splitlines() if line.startswith("**")])

    def test_rows_have_different_names(self):
        names = [row.name for row in peers.all_rows()]
        self.assertEqual(len(names), len(set(names)))


class SampleTest(unittest.TestCase):
    def test_user_time_is_the_mean_and_everything_else_the_median(self):
        samples = [side_by_side.Sample(1, 1.0, user, 1, 1) for user in (.1, .1, .4)]
        samples[0].cpu_us = 9.0
        self.assertEqual(1.0, side_by_side.medians(samples).cpu_us)
        self.assertAlmostEqual(.2, side_by_side.medians(samples).user_us)

    def test_user_time_of_a_process(self):
        server = side_by_side.Server("this process", "none")
        self.addCleanup(os.rmdir, server.directory)
        server.process = types.SimpleNamespace(pid=os.getpid())
        before = os.times().user
        user_s = server.user_ns() / 1e9
        self.assertLessEqual(before - .011, user_s)
        self.assertLessEqual(user_s, os.times().user + .011)


if __name__ == "__main__":
    unittest.main()
