// How long the texts of all function libraries may be together.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/str_cat.h"
#include "persistence/function_payload.h"
#include "protocol/request_text.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

// A library with one function: f, followed by the library's name.
std::string ShortLibrary(const std::string& name) {
  return "#!lua name=" + name + "\nredis.register_function('f" + name + "', function() return 1 end)";
}

// A library whose text has this many megabytes, most of them in a comment.
std::string LongLibrary(const std::string& name, size_t megabytes) {
  return ShortLibrary(name) + "\n--" + std::string(megabytes << 20, 'x');
}

constexpr char kTooLongTogether[] = "ERR The libraries are too long together";

// FUNCTION DUMP packs the texts of all libraries in one step.
TEST(FunctionLimits, LibrariesOfClientsHave64MegabytesTogether) {
  TestServer server;
  TestClient client(server);
  const auto load = [&](const std::string& name, size_t megabytes) {
    return client.Run({"FUNCTION", "LOAD", "REPLACE", LongLibrary(name, megabytes)});
  };
  const auto restore = [&](const std::string& name, size_t megabytes, Bytes policy) {
    const std::string code = LongLibrary(name, megabytes);
    return client.Run({"FUNCTION", "RESTORE", FunctionPayload(std::vector<Bytes>{code}, RdbCompression::kOn), policy});
  };
  EXPECT_THAT(load("a", 20), Bulk("a"));
  EXPECT_THAT(load("b", 20), Bulk("b"));
  EXPECT_THAT(load("c", 20), Bulk("c"));
  EXPECT_THAT(load("d", 4), Error(kTooLongTogether));
  EXPECT_THAT(restore("d", 4, "APPEND"), Error(kTooLongTogether));
  EXPECT_THAT(restore("d", 4, "REPLACE"), Error(kTooLongTogether));
  EXPECT_THAT(load("a", 23), Bulk("a"));
  EXPECT_THAT(load("a", 24), Error(kTooLongTogether));
  EXPECT_THAT(restore("a", 24, "REPLACE"), Error(kTooLongTogether));
  EXPECT_THAT(restore("a", 20, "REPLACE"), Ok());
  EXPECT_THAT(load("d", 3), Bulk("d"));
  EXPECT_THAT(restore("d", 4, "FLUSH"), Ok());
  EXPECT_THAT(load("a", 20), Bulk("a"));
}

// FUNCTION LIST shows the descriptions, which are copied for each function.
TEST(FunctionLimits, DescriptionsCountToo) {
  TestServer server;
  TestClient client(server);
  const auto load = [&](const std::string& name, int functions) {
    return client.Run({"FUNCTION", "LOAD", "REPLACE",
                       StrCat("#!lua name=", name, "\nlocal d = ('x'):rep(65536) for i = 1, ", functions,
                              " do redis.register_function{function_name = '", name,
                              "' .. i, callback = function() end, description = d} end")});
  };
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_THAT(load(name, 240), Bulk(name));
  EXPECT_THAT(load("e", 100), Error(kTooLongTogether));
  EXPECT_THAT(load("d", 250), Bulk("d")) << "replaces the library of this name";
  EXPECT_THAT(client.Run("FUNCTION DELETE a"), Ok());
  EXPECT_THAT(load("e", 100), Bulk("e"));
  EXPECT_THAT(client.Run("FCALL a1 0"), Error("ERR Function not found"));
}

TEST(FunctionLimits, FilesMayHaveMore) {
  FaultyFiles files;
  std::string records;
  for (const char* name : {"a", "b", "c", "d"}) records += EncodeRequest({"FUNCTION", "LOAD", LongLibrary(name, 17)});
  files.MakeDirectory("appendonlydir");
  files.SyncDirectory(".");
  files.Put("appendonlydir/appendonly.aof.manifest", "file appendonly.aof.1.incr.aof seq 1 type i\n");
  files.Put("appendonlydir/appendonly.aof.1.incr.aof", records);
  ServerLife life(files, {"appendonly yes"});
  ASSERT_EQ(life.outcome(), LoadOutcome::kLoaded) << life.Log();
  EXPECT_THAT(life.Run("FCALL fd 0"), Int(1));
  EXPECT_THAT(life.client().Run({"FUNCTION", "LOAD", ShortLibrary("e")}), Error(kTooLongTogether));
}

}  // namespace
}  // namespace respite
