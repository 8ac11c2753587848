// The remains of scripts that have ended: their text and code in the cache, and nothing else.
#include "scripting/script_cache.h"

#include "base/digest.h"
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kNoCachedScript[] = "NOSCRIPT No matching script. Please use EVAL.";
// Scripts of which the cache keeps a few, because their texts are long.
constexpr size_t kLongScriptBytes = ScriptCache::kMaxEvictableBytes / 16;

class CachedScripts : public testing::Test {
 protected:
  static std::string Numbered(int number, size_t bytes = 0) {
    return StrCat("return ", number, " --", std::string(bytes, 'x'));
  }
  static std::string ShaOf(const std::string& script) { return HexText(Sha1(script)); }
  bool IsCached(const std::string& script) {
    return client_.Run({"SCRIPT", "EXISTS", ShaOf(script)})[0].Integer() == 1;
  }
  uint64_t Evicted() { return server_->services().env.stats.evicted_scripts; }
  void EvalNumbered(int first, int last, size_t bytes = 0) {
    for (int i = first; i <= last; ++i)
      ASSERT_THAT(client_.Run({"EVAL", Numbered(i, bytes), "0"}), Int(static_cast<int64_t>(i)));
  }

  TestServer server_;
  TestClient client_{server_};
};

TEST_F(CachedScripts, OfEvalHaveALimitOfMemory) {
  EvalNumbered(1, 100, kLongScriptBytes);
  const ScriptCache& cache = server_->services().execution.script_cache;
  EXPECT_LE(cache.UsedBytes(), ScriptCache::kMaxEvictableBytes);
  EXPECT_LT(cache.EngineBytes(), size_t{32} << 20);
  EXPECT_GE(cache.Size(), 5u);
  EXPECT_EQ(Evicted(), 100 - cache.Size());
  EXPECT_TRUE(IsCached(Numbered(100, kLongScriptBytes)));
  EXPECT_FALSE(IsCached(Numbered(1, kLongScriptBytes)));
  EXPECT_THAT(client_.Run({"EVALSHA", ShaOf(Numbered(1, kLongScriptBytes)), "0"}), Error(kNoCachedScript));
}

TEST_F(CachedScripts, LongerThanTheLimitRunAndStayUntilTheNext) {
  EvalNumbered(1, 2, 2 * ScriptCache::kMaxEvictableBytes);
  EXPECT_EQ(server_->services().execution.script_cache.Size(), 1u);
  EvalNumbered(2, 2, 2 * ScriptCache::kMaxEvictableBytes);
  EXPECT_EQ(Evicted(), 1u);
}

TEST_F(CachedScripts, AreEvictedInOrderOfUse) {
  EvalNumbered(1, 2, kLongScriptBytes);
  for (int i = 3; i < 50; ++i) {
    EvalNumbered(i, i, kLongScriptBytes);
    EXPECT_THAT(client_.Run({"EVALSHA", ShaOf(Numbered(1, kLongScriptBytes)), "0"}), Int(1));
  }
  EXPECT_FALSE(IsCached(Numbered(2, kLongScriptBytes)));
}

TEST_F(CachedScripts, OfScriptLoadStay) {
  EvalNumbered(1, 1);
  client_.Run({"SCRIPT", "LOAD", Numbered(1)});  // although EVAL has sent it before
  client_.Run({"SCRIPT", "LOAD", Numbered(2)});
  EvalNumbered(2, 50, kLongScriptBytes);
  EXPECT_THAT(client_.Run({"EVALSHA", ShaOf(Numbered(1)), "0"}), Int(1));
  EXPECT_TRUE(IsCached(Numbered(2)));
  client_.Run("SCRIPT FLUSH");
  EXPECT_FALSE(IsCached(Numbered(1)));
  EvalNumbered(1, 2);
}

// An append-only file that an older server has written may name a script by its SHA-1.
TEST_F(CachedScripts, OfAFileStay) {
  Unit unit(server_->services().data.dataset, 0, ExpiryRule::kIgnoreDeadlines, Unit::Origin::kReplayed);
  auto session = server_->services().clients.registry.CreateDetached();
  Executor& executor = server_->services().execution.executor;
  auto replay = [&](std::initializer_list<Bytes> words) {
    const std::vector<Bytes> arguments(words);
    return executor.Replay(RequestPath::kFile, unit, *session, *executor.Resolve(arguments), arguments);
  };
  const std::string first = "redis.call('SET', 'k', 'v')";
  ASSERT_TRUE(replay({"EVAL", first, "0"}));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(replay({"EVAL", Numbered(i, kLongScriptBytes), "0"}));
  EvalNumbered(51, 100, kLongScriptBytes);
  EXPECT_TRUE(replay({"EVALSHA", ShaOf(first), "0"}));
}

// Redis 7.4 and Valkey 8.0 keep 500 scripts.
TEST(CachedScriptsOfLaterVersions, OfEvalAreFiveHundred) {
  for (const char* version : {"redis:7.4", "redis:8.0", "valkey:8.0", "valkey:8.1"}) {
    TestServer server({.directives = {StrCat("emulate ", version)}});
    TestClient client(server);
    for (int i = 0; i < 600; ++i) client.Run({"EVAL", StrCat("return ", i), "0"});
    EXPECT_EQ(server->services().execution.script_cache.Size(), 500u) << version;
    EXPECT_EQ(server->services().env.stats.evicted_scripts, 100u) << version;
  }
}

// A later run is perhaps that of another client.
TEST_F(CachedScripts, DoNotKeepTheEnvironmentOfTheLastRun) {
  const std::string script =
      "local before = rawget(getfenv(1), 'left') "
      "setfenv(1, setmetatable({left = string.rep('x', 1000)}, {__index = _G})) "
      "return {tostring(before), #left}";
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client_.Run({"EVAL", script, "0"}), ArrayOf(Bulk("nil"), Int(1000)));
  client_.Run({"EVAL", script + " + missing", "0"});  // ends with an error
  EXPECT_THAT(client_.Run({"EVAL", script, "0"}), ArrayOf(Bulk("nil"), Int(1000)));
  client_.Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() " + script + " end)"});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client_.Run("FCALL f 0"), ArrayOf(Bulk("nil"), Int(1000)));
}

}  // namespace
}  // namespace respite
