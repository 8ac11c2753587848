#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

// The rules are those of Redis' documentation; no server that has HIMPORT was at hand.
class HashImportCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, HashImportCommands, BothVersions(), VersionName);

TEST_P(HashImportCommands, CreatesHashesFromValues) {
  EXPECT_THAT(Run("HIMPORT PREPARE u name email"), Ok());
  EXPECT_THAT(Run("HIMPORT SET user:1 u alice a@example.com"), Ok());
  EXPECT_THAT(Run("HGETALL user:1"), MapOf({{Bulk("name"), Bulk("alice")}, {Bulk("email"), Bulk("a@example.com")}}));
  Run("SET text x");
  EXPECT_THAT(Run("HIMPORT SET text u bob b@example.com"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(Run("GET text"), Bulk("x"));
  Run("HSET user:2 text 1");
  Run("EXPIRE user:2 100");
  EXPECT_THAT(Run("HIMPORT SET user:2 u bob b@example.com"), Ok());
  EXPECT_THAT(Run("TTL user:2"), Int(-1)) << "replaces the key with its expiry";
  EXPECT_THAT(Run("HIMPORT PREPARE u id"), Ok()) << "replaces the list";
  EXPECT_THAT(Run("HIMPORT SET user:1 u 7"), Ok());
  EXPECT_THAT(Run("HGETALL user:1"), MapOf({{Bulk("id"), Bulk("7")}}));
}

TEST_P(HashImportCommands, IsJournaledAsHSet) {
  Run("HIMPORT PREPARE u a b");
  Run("HIMPORT SET h u 1 2");
  Run("HIMPORT SET h u 3 4");
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: HSET h a 1 b 2", "0: DEL h", "0: HSET h a 3 b 4"));
}

TEST_P(HashImportCommands, ListsBelongToTheConnection) {
  Run("HIMPORT PREPARE u a");
  TestClient other(server(), GetParam());
  EXPECT_THAT(other.Run("HIMPORT SET h u 1"), Error("ERR no such fieldset"));
  EXPECT_THAT(Run("HIMPORT DISCARD none"), Int(0));
  EXPECT_THAT(Run("HIMPORT DISCARD u"), Int(1));
  EXPECT_THAT(Run("HIMPORT SET h u 1"), Error("ERR no such fieldset"));
  EXPECT_THAT(Run("HIMPORT DISCARDALL"), Int(0));
  Run("HIMPORT PREPARE u a");
  Run("HIMPORT PREPARE v a");
  EXPECT_THAT(Run("HIMPORT DISCARDALL"), Int(2));
}

TEST_P(HashImportCommands, Refusals) {
  EXPECT_THAT(Run("HIMPORT PREPARE u a b a"), Error("ERR duplicate field name in fieldset"));
  EXPECT_THAT(Run("HIMPORT PREPARE u"), Error("ERR wrong number of arguments for 'himport|prepare' command"));
  Run("HIMPORT PREPARE u a b");
  for (const char* values : {"1", "1 2 3"})
    EXPECT_THAT(Run(StrCat("HIMPORT SET h u ", values)), Error("ERR value count does not match fieldset field count"));
  EXPECT_THAT(Run("EXISTS h"), Int(0));
}

}  // namespace

}  // namespace respite
