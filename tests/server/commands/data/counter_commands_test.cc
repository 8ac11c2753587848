#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

// INCREX. The rules are those of Redis' documentation; no server that has the command was at hand.
class CounterCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, CounterCommands, BothVersions(), VersionName);

TEST_P(CounterCommands, IncrExAddsWithinBounds) {
  EXPECT_THAT(Run("INCREX k"), ArrayOf(Int(1), Int(1)));
  EXPECT_THAT(Run("INCREX k BYINT 5"), ArrayOf(Int(6), Int(5)));
  EXPECT_THAT(Run("INCREX k BYINT -10"), ArrayOf(Int(-4), Int(-10)));
  Run("SET k 99");
  EXPECT_THAT(Run("INCREX k BYINT 5 UBOUND 100"), ArrayOf(Int(99), Int(0)));
  EXPECT_THAT(Run("INCREX k UBOUND 100 BYINT 5 SATURATE"), ArrayOf(Int(100), Int(1)));
  EXPECT_THAT(Run("INCREX k BYINT -500 LBOUND -3 SATURATE"), ArrayOf(Int(-3), Int(-103)));
  EXPECT_THAT(Run("INCREX none BYINT 5 UBOUND 1"), ArrayOf(Int(0), Int(0)));
  EXPECT_THAT(Run("EXISTS none"), Int(0));
}

TEST_P(CounterCommands, IncrExKeepsWithinTheTypesLimits) {
  Run("SET k 9223372036854775800");
  EXPECT_THAT(Run("INCREX k BYINT 100"), ArrayOf(Int(9223372036854775800), Int(0)));
  EXPECT_THAT(Run("INCREX k BYINT 100 SATURATE"), ArrayOf(Int(INT64_MAX), Int(7)));
  Run("SET k 9223372036854775807");
  EXPECT_THAT(Run("INCREX k UBOUND -9223372036854775808 SATURATE"), ErrorStartsWith("ERR "));
  EXPECT_THAT(Run("GET k"), Bulk("9223372036854775807"));
}

TEST_P(CounterCommands, IncrExByFloat) {
  Run("SET k 1.5");
  EXPECT_THAT(Run("INCREX k BYFLOAT 0.25"), ArrayOf(Double(1.75), Double(0.25)));
  EXPECT_THAT(Run("GET k"), Bulk("1.75"));
  EXPECT_THAT(Run("INCREX k BYFLOAT 5 UBOUND 2.5"), ArrayOf(Double(1.75), Double(0)));
  EXPECT_THAT(Run("INCREX k BYFLOAT 5 UBOUND 2.5 SATURATE"), ArrayOf(Double(2.5), Double(0.75)));
  EXPECT_THAT(Run("INCREX k"), Error("ERR value is not an integer or out of range"));
  Run("SET n 3");
  EXPECT_THAT(Run("INCREX n BYFLOAT 1"), ArrayOf(Double(4), Double(1)));
}

TEST_P(CounterCommands, IncrExSetsTheExpiry) {
  Run("INCREX k EX 100");
  EXPECT_THAT(Run("TTL k"), Int(100));
  Run("INCREX k EX 10 ENX");
  EXPECT_THAT(Run("TTL k"), Int(100));
  Run("INCREX k");
  EXPECT_THAT(Run("TTL k"), Int(100));
  EXPECT_THAT(Run("INCREX k PERSIST"), ArrayOf(Int(4), Int(1)));
  EXPECT_THAT(Run("TTL k"), Int(-1));
  Run("INCREX k PX 5000 ENX");
  EXPECT_THAT(Run("PTTL k"), Int(5000));
  EXPECT_THAT(Run("INCREX k UBOUND 1 EX 7"), ArrayOf(Int(5), Int(0)));
  EXPECT_THAT(Run("PTTL k"), Int(5000)) << "nothing changes if the sum is out of bounds";
  EXPECT_THAT(Run("INCREX k PXAT 1"), ArrayOf(Int(6), Int(1)));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
}

TEST_P(CounterCommands, IncrExRefusals) {
  for (const char* options : {"BYINT", "BYINT 1 BYFLOAT 1", "LBOUND", "EX 1 PX 1", "ENX", "PERSIST ENX", "NX", "5"})
    EXPECT_THAT(Run(StrCat("INCREX k ", options)), Error("ERR syntax error")) << options;
  EXPECT_THAT(Run("INCREX k BYINT x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("INCREX k BYFLOAT x"), Error("ERR value is not a valid float"));
  EXPECT_THAT(Run("INCREX k UBOUND 1.5"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("INCREX k LBOUND 5 UBOUND 4"), Error("ERR LBOUND must be less than or equal to UBOUND"));
  EXPECT_THAT(Run("INCREX k EX 0"), Error("ERR invalid expire time in 'increx' command"));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  Run("RPUSH l a");
  EXPECT_THAT(Run("INCREX l"), ErrorStartsWith("WRONGTYPE"));
}

}  // namespace

}  // namespace respite
