// The grammar and the events of HEXPIRE, HSETEX, HGETEX and their relatives in Redis 8.6 and Valkey 9.1.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/dialects/emulation.h"
#include "tests/support/reply_matchers.h"

namespace respite {
namespace {

struct RefusedLine {
  const char* line;   // the request
  const char* error;  // the whole error
};

void ExpectErrors(Emulation& server, const std::vector<RefusedLine>& lines) {
  for (const auto& [line, error] : lines) EXPECT_THAT(server.Run(line), Error(error)) << line;
}

TEST(HashDeadlines, OptionsOf86MayFollowTheFields) {
  Emulation server("redis:8.6");
  server.Run("HSET h a 1 b 2");
  EXPECT_THAT(server.Run("HEXPIRE h 100 FIELDS 1 a NX"), ArrayOf(Int(1)));
  EXPECT_THAT(server.Run("HEXPIRE h 100 FIELDS 2 b NX"), ArrayOf(Int(1), Int(-2)));
  EXPECT_THAT(server.Run("HEXPIRE h 200 FIELDS 1 a NX NX"), ArrayOf(Int(0)));
  EXPECT_THAT(server.Run("HGETEX h FIELDS 1 a PERSIST"), ArrayOf(Bulk("1")));
  EXPECT_THAT(server.Run("HTTL h FIELDS 1 a"), ArrayOf(Int(-1)));
  EXPECT_THAT(server.Run("HSETEX h FIELDS 1 c 3 FNX EX 100"), Int(1));
  EXPECT_THAT(server.Run("HTTL h FIELDS 1 c"), ArrayOf(Int(100)));
  EXPECT_THAT(server.Run("HSETEX h FIELDS 1 EX 5"), Int(1));
}

TEST(HashDeadlines, ErrorsOf86) {
  Emulation server("redis:8.6");
  server.Run("SET k v");
  ExpectErrors(server,
               {
                   {"HEXPIRE h 100 NX NX NX", "ERR missing FIELDS argument"},
                   {"HEXPIRE h 100 NX FIELDS 1", "ERR FIELDS requires at least numfields and one field argument"},
                   {"HEXPIRE h 100 NX XX FIELDS 1 a", "ERR Multiple condition flags specified"},
                   {"HEXPIRE h 100 XX GT FIELDS 1 a", "ERR Multiple condition flags specified"},
                   {"HEXPIRE h 100 NX FIELDS 1 a FIELDS 1 b", "ERR FIELDS keyword specified multiple times"},
                   {"HEXPIRE h 100 FIELDS 2 a", "ERR wrong number of arguments"},
                   {"HEXPIRE h 100 FIELDS 1 a b", "ERR unknown argument: b"},
                   {"HEXPIRE h 100 FIELDS x a", "ERR Parameter `numFields` should be greater than 0"},
                   {"HEXPIRE k x WHAT FIELDS 1 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
                   {"HGETEX h FIELDS x a", "ERR invalid number of fields"},
                   {"HGETEX h FIELDS 2 a", "ERR wrong number of arguments"},
                   {"HGETEX h EX 5 FIELDS", "ERR wrong number of arguments for 'hgetex' command"},
                   {"HGETEX h FIELDS 1 a EX", "ERR missing expire time"},
                   {"HGETEX h KEEPTTL FIELDS 1 a", "ERR unknown argument"},
                   {"HGETEX h FNX EX 5", "ERR missing FIELDS argument"},
                   {"HGETEX h NX FIELDS 1 a", "ERR unknown argument: NX"},
                   {"HSETEX h PERSIST FIELDS 1 a v", "ERR unknown argument"},
                   {"HSETEX h FNX FNX FIELDS 1 a v", "ERR Only one of FXX or FNX arguments can be specified"},
                   {"HSETEX h FIELDS 4611686018427387905 a v", "ERR invalid number of fields"},
                   {"HSETEX h FIELDS 1 a v b", "ERR unknown argument: b"},
               });
}

TEST(HashDeadlines, ErrorsOfValkey) {
  Emulation server("valkey:9.1");
  server.Run("SET k v");
  const char* const kCount = "ERR numfields should be greater than 0 and match the provided number of fields";
  const char* const kWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";
  ExpectErrors(
      server,
      {
          {"HEXPIRE h 100 FIELDS x a", "ERR value is not an integer or out of range"},
          {"HEXPIRE h 100 FIELDS 0 a", kCount},
          {"HEXPIRE h 100 FIELDS 1 a NX", kCount},
          {"HEXPIRE h x WHAT WHAT 1 a", kCount},
          {"HEXPIRE h x WHAT FIELDS x a", "ERR Unsupported option WHAT"},
          {"HEXPIRE h 5 NX XX FIELDS 2 a", "ERR NX and XX, GT or LT options at the same time are not compatible"},
          {"HEXPIRE h 5 GT LT FIELDS 1 a", "ERR GT and LT options at the same time are not compatible"},
          {"HEXPIRE k -1 FIELDS 1 a", "ERR invalid expire time in 'hexpire' command"},
          {"HEXPIRE k 1 FIELDS 1 a", kWrongType},
          {"HTTL k FIELDS 2 a", "ERR syntax error"},
          {"HTTL k FIELD x a", "ERR syntax error"},
          {"HTTL k FIELDS 1 a", kWrongType},
          {"HPERSIST k FIELDS 2 a", kCount},
          {"HGETDEL k FIELD 1 a", "ERR syntax error"},
          {"HGETEX h EX FIELDS 1 a", "ERR syntax error"},
          {"HGETEX h EX 5 PX 5 FIELDS 1 a", "ERR syntax error"},
          {"HGETEX k EX x FIELDS 1 a", kWrongType},
          {"HGETEX k EX x FIELDS 2 a", kCount},
          {"HSETEX h FNX FXX FIELDS 1 a v", "ERR syntax error"},
          {"HSETEX h FIELDS 1 a v b", kCount},
          {"HSETEX h NX EX -1 FIELDS 1 a v", "ERR invalid expire time in 'hsetex' command"},
      });
  EXPECT_THAT(server.Run("HSETEX h EX 100 EX 200 FIELDS 1 a v"), Int(1));
  EXPECT_THAT(server.Run("HTTL h FIELDS 1 a"), ArrayOf(Int(200)));
  EXPECT_THAT(server.Run("HEXPIRE h 300 XX GT FIELDS 1 a"), ArrayOf(Int(1)));
}

TEST(HashDeadlines, PastDeadlinesDoNotChangeTheEncodingInValkey) {
  Emulation server("valkey:9.1");
  server.Run("CONFIG SET hash-max-listpack-entries 2");
  server.Run("HSET h a 1 b 2");
  EXPECT_THAT(server.Run("HSETEX h EX 0 FIELDS 3 b 2 c 3 d 4"), Int(1));
  EXPECT_THAT(server.Run("OBJECT ENCODING h"), Bulk("listpack"));
  EXPECT_THAT(server.Run("HKEYS h"), ArrayOf(Bulk("a")));
  EXPECT_THAT(server.Run("HSETEX new EX 0 FIELDS 1 b 2"), Int(1));
  EXPECT_THAT(server.Run("EXISTS new"), Int(0));
}

TEST(HashDeadlines, EncodingWithRoomForDeadlines) {
  Emulation redis("redis:8.6");
  redis.Run("HSET h a 1");
  redis.Run("HEXPIRE h 100 FIELDS 1 none");
  EXPECT_THAT(redis.Run("OBJECT ENCODING h"), Bulk("listpackex"));
  Emulation valkey("valkey:9.1");
  valkey.Run("HSET h a 1");
  valkey.Run("HEXPIRE h 100 FIELDS 1 none");
  EXPECT_THAT(valkey.Run("OBJECT ENCODING h"), Bulk("listpack"));
  valkey.Run("HEXPIRE h 100 FIELDS 1 a");
  EXPECT_THAT(valkey.Run("OBJECT ENCODING h"), Bulk("hashtable"));
}

}  // namespace
}  // namespace respite
