"""The features that an application requested and did not get (TEST MISSING)."""
import unittest

from lint_test import LintTest


class Missing(LintTest):
    def missing(self):
        rows = [dict(zip(row[::2], row[1::2])) for row in self.lab("MISSING")]
        return [(row[b"kind"].decode(), row[b"what"].decode(), row[b"name"].decode(), row[b"count"]) for row in rows]

    def test_all_kinds(self):
        anna, bob = self.pair()
        self.run_all(anna, "FT.SEARCH idx *", "ft.search idx x", "CLIENT NONSENSE 1", "SET k hello FOO 1",
                     "CLIENT KILL MAXEDGE 5", "CONFIG GET no-such", "CONFIG SET no-such 1", "HSET h f v", "HSCAN h 0 NOSUCH",
                     ("EVAL", "return redis.pcall('BF.ADD','k','v')", "0"), "MULTI", "TS.ADD k 1 1", "DISCARD")
        self.run_all(bob, "FT.SEARCH idx *")
        self.assertEqual([
            ("command", "FT.SEARCH", "anna", 2), ("subcommand", "CLIENT NONSENSE", "anna", 1),
            ("option", "SET FOO", "anna", 1), ("option", "CLIENT KILL MAXEDGE", "anna", 1),
            ("directive", "no-such", "anna", 2), ("option", "HSCAN NOSUCH", "anna", 1),
            ("command", "BF.ADD", "anna", 1), ("command", "TS.ADD", "anna", 1), ("command", "FT.SEARCH", "bob", 1)],
            self.missing())
        self.assertEqual(b"+OK", self.lab("MISSING CLEAR"))
        self.assertEqual([], self.lab("MISSING"))

    def test_a_row_has_all_that_is_known(self):
        anna = self.client("anna")
        self.run_all(anna, "CLIENT SETINFO LIB-NAME mylib", "FT.SEARCH idx *")
        [row] = [dict(zip(row[::2], row[1::2])) for row in self.lab("MISSING")]
        self.assertEqual(int(anna.value("CLIENT", "ID")), row.pop(b"id"))
        self.assertTrue(row.pop(b"addr").startswith(b"127.0.0.1:"))
        self.assertLessEqual(row.pop(b"first"), row.pop(b"last"))
        self.assertEqual({b"kind": b"command", b"what": b"FT.SEARCH", b"request": b"FT.SEARCH idx *", b"name": b"anna",
                          b"lib": b"mylib", b"user": b"default", b"count": 1}, row)

    def test_what_is_there_is_not_missing(self):
        anna = self.client("anna")
        self.run_all(anna, "SET k v", "SET k v EX", "SET k v NX XX", "LPUSH k 1", "GET", "CONFIG GET maxmemory",
                     "CONFIG GET no*", "CONFIG SET maxmemory x", "EVAL return(redis.call('GET')) 0",
                     ("ZADD", "z", "abc", "member"), "SUBSCRIBE news", "GET k")
        self.assertEqual([], self.missing())

    def test_a_crash_and_a_reset_forget_nothing(self):
        self.client("anna").value("NOSUCH")
        self.assertEqual(b"+OK", self.lab("CRASH"))
        self.assertEqual(b"+OK", self.lab("RESET"))
        self.client("anna").value("NOSUCH")
        self.assertEqual([("command", "NOSUCH", "anna", 2)], self.missing())

    def test_rows_are_bounded_and_secrets_hidden(self):
        anna = self.client("anna")
        anna.batch([(f"NOSUCH{number}",) for number in range(1100)])
        self.assertEqual(1000, len(self.lab("MISSING")))
        self.lab("MISSING CLEAR")
        self.run_all(anna, "CONFIG SET no-such secret", "AUTH a b c d")
        [row] = self.lab("MISSING")
        self.assertFalse([field for field in row if isinstance(field, bytes) and b"secret" in field], row)


del LintTest

if __name__ == "__main__":
    unittest.main()
