// maxmemory: which keys are evicted, their events and propagated commands, and refusals when no key can be evicted.
#include "server/dataset/eviction.h"

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kOutOfMemoryText[] = "OOM command not allowed when used memory > 'maxmemory'.";

class KeyEviction : public CommandTest {
 protected:
  // Limits memory to the current usage plus `more_bytes`.
  void LimitMemory(size_t more_bytes, Bytes policy) {
    Run({"CONFIG", "SET", "maxmemory-policy", policy, "maxmemory",
         std::to_string(server()->services().data.memory.UsedBytes() + more_bytes)});
  }
  void NoLimit() { Run("CONFIG SET maxmemory 0"); }
  // Creates keys of 1 KB each.
  void Fill(int count, Bytes prefix = "key:", std::vector<std::string> options = {}) {
    const std::string value(1000, 'v');
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> words = {"SET", StrCat(prefix, i), value};
      words.insert(words.end(), options.begin(), options.end());
      Run(words);
    }
  }
  uint64_t Evicted() { return server()->services().data.dataset.stats.evicted_keys; }
  std::string Field(const std::string& name) {
    const std::string report = Run("INFO everything").Text();
    const size_t begin = report.find("\n" + name + ":");
    if (begin == std::string::npos) return "";
    const size_t value = begin + name.size() + 2;
    return report.substr(value, report.find('\r', value) - value);
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, KeyEviction, BothVersions(), VersionName);

TEST_P(KeyEviction, KeysMakeRoomForOthers) {
  SkipReplayCheck("what the test remembers of the journal would take memory itself");
  server()->services().data.dataset.journals.Detach(server().journal());
  for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random"}) {
    NoLimit();
    Run("FLUSHALL");
    LimitMemory(300'000, policy);
    const uint64_t before = Evicted();
    Fill(600);
    EXPECT_LT(Run("DBSIZE").Integer(), 400) << policy;
    EXPECT_GT(Run("DBSIZE").Integer(), 20) << policy;
    EXPECT_EQ(Evicted() - before, 600 - server()->services().data.dataset.keyspace[0].Size()) << policy;
    EXPECT_LE(server()->services().data.memory.UsedBytes(), server()->services().env.settings.maxmemory + 100'000)
        << policy;
  }
  NoLimit();
}

TEST_P(KeyEviction, DocumentsAndVectorSetsAreEvicted) {
  SkipReplayCheck("what the test remembers of the journal would take memory itself");
  server()->services().data.dataset.journals.Detach(server().journal());
  LimitMemory(300'000, "allkeys-random");
  const std::string text = "\"" + std::string(2000, 'v') + "\"";
  for (int i = 0; i < 300; ++i) {
    Run({"JSON.SET", StrCat("document", i), "$", text});
    Run({"VADD", StrCat("vectors", i), "FP32", std::string(1200, 'v'), "element"});
  }
  EXPECT_LT(Run("DBSIZE").Integer(), 300);
  EXPECT_EQ(Evicted(), 600 - server()->services().data.dataset.keyspace[0].Size());
  EXPECT_LE(server()->services().data.memory.UsedBytes(), server()->services().env.settings.maxmemory + 100'000);
  NoLimit();
}

// As in Redis, where this memory does not even count as used memory.
TEST_P(KeyEviction, MemoryOfScriptsCostsNoKeys) {
  SkipReplayCheck("what the test remembers of the journal would take memory itself");
  Fill(100);
  LimitMemory(3'000'000, "allkeys-lru");
  Run("FUNCTION LOAD \"#!lua name=keeper\nlocal kept = {} redis.register_function('keep', function() for i = 1, 100000 "
      "do kept[i] = {i} end return #kept end)\"");
  EXPECT_THAT(Run("FCALL keep 0"), Int(100'000));
  // jemalloc allocates a fifth more than the text needs.
  constexpr char kText[] =
      "#!lua name=text\nlocal kept redis.register_function('text', function() kept = ('x'):rep(17825792) return 1 end)";
  EXPECT_THAT(Run({"FUNCTION", "LOAD", kText}), Bulk("text"));
  EXPECT_THAT(Run("FCALL text 0"), Int(1));
  ASSERT_GT(server()->services().data.memory.UsedBytes(), server()->services().env.settings.maxmemory);
  EXPECT_THAT(Run("SET more 1"), Ok());
  EXPECT_EQ(Evicted(), 0u);
  EXPECT_THAT(Run("DBSIZE"), Int(101));
  NoLimit();
}

TEST_P(KeyEviction, VolatilePoliciesSpareKeysWithoutDeadlineAndThenRefuse) {
  for (const char* policy : {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}) {
    NoLimit();
    Run("FLUSHALL");
    Fill(50, "stays:");
    Fill(50, "goes:", {"EX", "1000"});
    const uint64_t before = Evicted();
    Run({"CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", "1"});
    EXPECT_EQ(Evicted() - before, 50u) << policy;
    EXPECT_THAT(Run("SET k v"), Error(kOutOfMemoryText)) << policy;
    EXPECT_THAT(Run("DBSIZE"), Int(50)) << policy;
    EXPECT_THAT(Run("EXISTS stays:0 stays:49"), Int(2));
  }
  NoLimit();
}

TEST_P(KeyEviction, WhatIsLeftIsWhatTheJournalLeaves) {
  Fill(200);
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory",
       std::to_string(server()->services().data.memory.UsedBytes() - 50'000)});
  EXPECT_GT(Run("DBSIZE").Integer(), 100);
  EXPECT_LT(Run("DBSIZE").Integer(), 190);
  NoLimit();
}

TEST_P(KeyEviction, EachKeyStandsForItselfInTheJournal) {
  Fill(5);
  Run("CONFIG SET maxmemory-policy allkeys-random maxmemory 1");
  const auto lines = Journaled();
  ASSERT_GE(lines.size(), 10u);
  for (size_t i = lines.size() - 5; i < lines.size(); ++i) EXPECT_THAT(lines[i], testing::StartsWith("0: DEL key:"));
  EXPECT_EQ(server().journal().Units(), lines.size());
  NoLimit();
}

TEST_P(KeyEviction, LazilyTheyAreUnlinked) {
  Run("CONFIG SET lazyfree-lazy-eviction yes");
  Run({"SET", "large", std::string(1 << 20, 'v')});
  Run("CONFIG SET maxmemory-policy allkeys-random maxmemory 1");
  EXPECT_EQ(Journaled().back(), "0: UNLINK large");
  EXPECT_EQ(server()->services().data.lazy_free_thread.PendingObjects() +
                server()->services().data.lazy_free_thread.FreedObjects(),
            1u);
  NoLimit();
}

TEST_P(KeyEviction, WhatWaitsForTheBackgroundThreadCountsAsFree) {
  Run("CONFIG SET lazyfree-lazy-eviction yes");
  for (int i = 0; i < 10; ++i) Run({"SET", StrCat("large:", i), std::string(1 << 20, 'v')});
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory",
       std::to_string(server()->services().data.memory.UsedBytes() - (1 << 19))});
  EXPECT_THAT(Run("DBSIZE"), Int(9));
  NoLimit();
}

TEST_P(KeyEviction, TheLimitHoldsWithoutAnybodyAsking) {
  Fill(20);
  Run("CONFIG SET maxmemory-policy allkeys-lru maxmemory 1");
  EXPECT_EQ(server()->services().data.dataset.keyspace[0].Size(), 0u);
  NoLimit();
}

TEST_P(KeyEviction, EventsAndInvalidations) {
  TestClient listener(server());
  listener.Run("PSUBSCRIBE __keyevent@*__:*");
  TestClient reader(server(), RespVersion::kResp3);
  Run("CONFIG SET notify-keyspace-events KEA");
  Run("SELECT 2");
  Run("SET k v");
  reader.Run("SELECT 2");
  reader.Run("CLIENT TRACKING ON");
  reader.Run("GET k");
  listener.Raw("");
  reader.Raw("");
  Run("CONFIG SET maxmemory-policy allkeys-lfu maxmemory 1");
  EXPECT_EQ(listener.Raw(""),
            "*4\r\n$8\r\npmessage\r\n$16\r\n__keyevent@*__:*\r\n$22\r\n__keyevent@2__:evicted\r\n$1\r\nk\r\n");
  EXPECT_EQ(reader.Raw(""), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
  NoLimit();
}

TEST_P(KeyEviction, AWatchedKeyThatGoesMakesTheTransactionStale) {
  Run("SET k v");
  Run("WATCH k");
  Run("MULTI");
  TestClient other(server());
  other.Run("CONFIG SET maxmemory-policy allkeys-lru maxmemory 1");
  other.Run("CONFIG SET maxmemory 0");
  EXPECT_THAT(Run("EXEC"), NilArray());
}

TEST_P(KeyEviction, KeysThatHaveExpiredExpire) {
  Run("SET dead v PX 10");
  Run("SET alive v");
  clock().AdvanceMs(20);
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1"});
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 1u);
  EXPECT_EQ(Evicted(), 1u);
  NoLimit();
}

TEST_P(KeyEviction, NothingGoesWhileWritesArePaused) {
  Fill(5);
  Run("CONFIG SET maxmemory-policy allkeys-lru");
  Run("CLIENT PAUSE 1000 WRITE");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("DBSIZE"), Int(5));
  server().RunCronFor(1100);
  EXPECT_THAT(Run("DBSIZE"), Int(0));
  NoLimit();
}

TEST_P(KeyEviction, AScriptIsNotInterrupted) {
  LimitMemory(100'000, "allkeys-lru");
  EXPECT_THAT(
      Run({"EVAL", "for i = 1, 300 do redis.call('SET', i, string.rep('v', 1000)) end return redis.call('DBSIZE')",
           "0"}),
      Int(300));
  EXPECT_LT(Run("DBSIZE").Integer(), 300);
  NoLimit();
}

TEST_P(KeyEviction, ATransactionIsNotInterrupted) {
  LimitMemory(100'000, "allkeys-lru");
  Run("MULTI");
  for (int i = 0; i < 30; ++i) Run({"SETRANGE", StrCat("k", i), "10000", "v"});
  Run("DBSIZE");
  const TestReply reply = Run("EXEC");
  EXPECT_THAT(reply[30], Int(30));
  EXPECT_LT(Run("DBSIZE").Integer(), 30);
  NoLimit();
}

TEST_P(KeyEviction, NoEvictionRefusesWhatTakesMemory) {
  Run("RPUSH list a");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("SET k v"), Error(kOutOfMemoryText));
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_THAT(Run("LPOP list"), Bulk("a"));
  EXPECT_THAT(Run("EVAL \"return redis.call('SET', 'k', 'v')\" 0"),
              ErrorStartsWith(std::string(kOutOfMemoryText) + " script: "));
  EXPECT_THAT(Run("EVAL \"return redis.call('GET', 'k')\" 0"), Nil());
  EXPECT_THAT(Run({"EVAL", "#!lua\nreturn 1", "0"}), Error(kOutOfMemoryText));
  EXPECT_THAT(Run({"EVAL", "#!lua flags=allow-oom\nreturn redis.call('SET', 'k', 'v')", "0"}), Ok());
  EXPECT_THAT(Run({"EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', 'k')", "0"}), Bulk("v"));
  NoLimit();
}

TEST_P(KeyEviction, WhatAScriptHasBegunItFinishes) {
  Run("SET k v");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("EVAL \"redis.call('DEL', 'k') return redis.call('SET', 'k', 'w')\" 0"), Ok());
  NoLimit();
}

TEST_P(KeyEviction, ATransactionThatTakesMemoryIsRefusedAtExec) {
  Run("MULTI");
  Run("SET k v");
  TestClient other(server());
  other.Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("EXEC"), Error(std::string("EXECABORT Transaction discarded because of: ") + kOutOfMemoryText));
  other.Run("CONFIG SET maxmemory 0");
  Run("MULTI");
  Run("GET k");
  other.Run("CONFIG SET maxmemory 1");
  EXPECT_EQ(Run("EXEC").Size(), 1u);
  NoLimit();
}

TEST_P(KeyEviction, TimeAboveTheLimitIsCounted) {
  Run("CONFIG SET maxmemory 1");
  Run("PING");
  clock().AdvanceMs(250);
  EXPECT_EQ(Field("current_eviction_exceeded_time"), "250");
  EXPECT_EQ(Field("total_eviction_exceeded_time"), "250");
  NoLimit();
  Run("CONFIG SET maxmemory 1gb");
  clock().AdvanceMs(100);
  EXPECT_EQ(Field("current_eviction_exceeded_time"), "0");
  EXPECT_EQ(Field("total_eviction_exceeded_time"), "250");
  Run("CONFIG RESETSTAT");
  EXPECT_EQ(Field("total_eviction_exceeded_time"), "0");
  NoLimit();
}

// A journal that takes a millisecond for each record.
class SlowJournal final : public Journal {
 public:
  SlowJournal(Journal& inner, ManualClock& clock) : inner_(inner), clock_(clock) {}
  void Append(const PropagatedGroup& group) override {
    inner_.Append(group);
    clock_.AdvanceMs(1);
  }

 private:
  Journal& inner_;
  ManualClock& clock_;
};

TEST_P(KeyEviction, ARoundEndsInTimeAndOthersFollow) {
  Fill(200);
  SlowJournal slow(server().journal(), clock());
  server()->services().data.dataset.journals.Detach(server().journal());
  server()->services().data.dataset.journals.Attach(slow);
  Run("CONFIG SET latency-monitor-threshold 1 maxmemory-eviction-tenacity 0 maxmemory-policy allkeys-lru");
  TestClient other(server());
  other.Deliver(EncodeRequest({"CONFIG", "SET", "maxmemory", "1"}) + EncodeRequest({"DBSIZE"}));
  server().pump().Run(other.session());  // does not end the turn, so this shows only the eviction before the command
  EXPECT_EQ(server()->services().data.dataset.keyspace[0].Size(), 200u - 16u)
      << "it looks at the clock after every 16 keys";
  server().EndTurn();
  EXPECT_EQ(server()->services().data.dataset.keyspace[0].Size(), 0u) << "later Turns do the rest";
  EXPECT_NE(server()->services().env.latency.Find("eviction-cycle"), nullptr);
  EXPECT_NE(server()->services().env.latency.Find("eviction-del"), nullptr);
  server()->services().data.dataset.journals.Detach(slow);
  server()->services().data.dataset.journals.Attach(server().journal());
  NoLimit();
}

TEST_P(KeyEviction, AWriteThatWaitsForLaterRoundsIsNotRefused) {
  Fill(200);
  SlowJournal slow(server().journal(), clock());
  server()->services().data.dataset.journals.Detach(server().journal());
  server()->services().data.dataset.journals.Attach(slow);
  LimitMemory(0, "allkeys-lru");
  Run({"CONFIG", "SET", "maxmemory-eviction-tenacity", "0", "maxmemory",
       std::to_string(server()->services().data.memory.UsedBytes() - 100'000)});
  EXPECT_THAT(Run("SET k v"), Ok());
  server()->services().data.dataset.journals.Detach(slow);
  server()->services().data.dataset.journals.Attach(server().journal());
  NoLimit();
}

TEST_P(KeyEviction, TheBufferOfTheJournalDoesNotCount) {
  EXPECT_EQ(Field("mem_not_counted_for_evict"), "0");
  EXPECT_EQ(Field("maxmemory_policy"), "noeviction");
}

TEST_P(KeyEviction, MessagesAboutEvictedKeysDoNotEvictMore) {
  std::vector<std::unique_ptr<TestClient>> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(std::make_unique<TestClient>(server(), RespVersion::kResp3));
    readers.back()->Run("CLIENT TRACKING ON BCAST");
    readers.back()->SetReading(TestClient::Reading::kNo);
  }
  const std::string long_name(1000, 'k');
  for (int i = 0; i < 300; ++i) Run({"SET", StrCat(i, long_name), "v"});
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory",
       std::to_string(server()->services().data.memory.UsedBytes() - 30'000)});
  EXPECT_GE(Evicted(), 10u);
  EXPECT_LE(Evicted(), 60u);
  NoLimit();
}

TEST_P(KeyEviction, FrequencyAndIdleTimeFollowThePolicy) {
  Run("SET k v");
  clock().AdvanceMs(30'000);
  EXPECT_THAT(Run("OBJECT IDLETIME k"), Int(30));
  EXPECT_THAT(Run("OBJECT FREQ k"), ErrorStartsWith("ERR An LFU maxmemory policy is not selected"));
  Run("CONFIG SET maxmemory-policy allkeys-lfu");
  Run("SET fresh v");
  EXPECT_THAT(Run("OBJECT FREQ fresh"), Int(5));
  for (int i = 0; i < 2000; ++i) Run("GET fresh");
  const int64_t used = Run("OBJECT FREQ fresh").Integer();
  EXPECT_GT(used, 12);
  clock().AdvanceMs(5 * 60'000);
  EXPECT_THAT(Run("OBJECT FREQ fresh"), Int(used - 5));
  EXPECT_THAT(Run("OBJECT IDLETIME fresh"), ErrorStartsWith("ERR An LFU maxmemory policy is selected"));
}

}  // namespace
}  // namespace respite
