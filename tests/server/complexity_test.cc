// Complexity attacks on each table and tree that clients can fill, by an attacker who has read the source. The names
// collide, are similar, or come in the worst order. Each must cost the same as random names. RESPITE_HOSTILE=full tries
// a million names of each kind.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

uint64_t Count() {
  const char* wanted = std::getenv("RESPITE_HOSTILE");
  return wanted != nullptr && std::string(wanted) == "full" ? 1'000'000 : 50'000;
}

// CPU time of this thread, which does not count the time of other threads.
double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The `number`-th name of a kind.
struct DataKind {
  const char* label;
  std::string (*name)(uint64_t number);
};

std::string BigEndian(uint64_t number) {
  std::string text(8, '\0');
  for (size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(number >> (56 - 8 * i));
  return text;
}
std::string Digits(uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(12 - digits.size(), '0') + digits;
}
std::string AtRandom(uint64_t number) {
  Random random(number + 1);
  return BigEndian(random.Next()) + BigEndian(random.Next());
}

const DataKind kAtRandom{"AtRandom", AtRandom};
const DataKind kDataKinds[] = {
    // A former hash function had this constant: it gave all these names one hash, whatever the seed.
    {"Cancelling", [](uint64_t number) { return "\x3b\xa7\xca\x84\x85\xae\x67\xbb" + BigEndian(number); }},
    {"EqualBeginnings", [](uint64_t number) { return std::string(60, 'a') + Digits(number); }},
    {"EqualEnds", [](uint64_t number) { return Digits(number) + std::string(60, 'a'); }},
    {"LastBytes", [](uint64_t number) { return std::string(8, 'a') + BigEndian(number); }},
    {"Sorted", Digits},
    {"Reversed", [](uint64_t number) { return Digits(999'999'999'999 - number); }},
    {"Zeros", [](uint64_t number) { return std::string(4, '\0') + BigEndian(number * 256); }},
};

class Complexity : public testing::TestWithParam<DataKind> {
 protected:
  // A server for each kind of names, without the fixture's journal.
  struct World {
    World() { server->services().data.dataset.journals.Detach(server.journal()); }
    TestServer server;
    TestClient client{server};

    // Sends `names` requests in pipelines and drops the replies.
    template <class Words>
    void RunEach(const std::vector<std::string>& names, Words&& words) {
      constexpr size_t kAtOnce = 500;
      std::string pipeline;
      for (size_t i = 0; i < names.size(); ++i) {
        AppendRequest(pipeline, words(i));
        if ((i + 1) % kAtOnce != 0 && i + 1 != names.size()) continue;
        const std::string replies = client.Raw(pipeline);
        if (replies.find("-ERR") != std::string::npos) ADD_FAILURE() << replies.substr(replies.find("-ERR"), 100);
        pipeline.clear();
      }
    }
    // Sends requests with many names each: `WATCH name name …`.
    void RunWithMany(Bytes command, const std::vector<std::string>& names) {
      constexpr size_t kAtOnce = 1000;
      for (size_t i = 0; i < names.size(); i += kAtOnce) {
        std::vector<Bytes> words{command};
        for (size_t j = i; j < std::min(names.size(), i + kAtOnce); ++j) words.push_back(names[j]);
        std::string request;
        AppendRequest(request, words);
        client.Raw(request);
      }
    }
    static void AppendRequest(std::string& out, const std::vector<Bytes>& words) {
      StrAppend(out, "*", words.size(), "\r\n");
      for (Bytes word : words)
        out.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
    }
  };
  using Attack = std::function<void(World&, const std::vector<std::string>&)>;

  static std::vector<std::string> Names(const DataKind& kind, uint64_t count) {
    std::vector<std::string> names;
    for (uint64_t i = 0; i < count; ++i) names.push_back(kind.name(i));
    return names;
  }
  static double Seconds(const DataKind& kind, uint64_t count, const Attack& attack) {
    const std::vector<std::string> names = Names(kind, count);
    World world;
    const double began = CpuSeconds();
    attack(world, names);
    return CpuSeconds() - began;
  }
  // Both take some tenths of a second; quadratic time would be a thousand times as long.
  static void ExpectNoWorseThanRandom(uint64_t count, const Attack& attack) {
    const double random = Seconds(kAtRandom, count, attack);
    const double hostile = Seconds(GetParam(), count, attack);
    EXPECT_LT(hostile, random * 5 + 0.2) << "seconds; with random names " << random;
  }
};

INSTANTIATE_TEST_SUITE_P(Names, Complexity, testing::ValuesIn(kDataKinds),
                         [](const auto& kind) { return std::string(kind.param.label); });

TEST_P(Complexity, OfKeysAndDeadlines) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SET", names[i], "v", "EX", "1000"}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"GET", names[i]}; });
    EXPECT_EQ(world.server->services().data.dataset.keyspace[0].Size(), names.size());
    EXPECT_EQ(world.server->services().data.dataset.keyspace[0].Entries().CollisionCount(), 0u);
    EXPECT_EQ(world.server->services().data.dataset.keyspace[0].EntriesWithDeadline().CollisionCount(), 0u);
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"DEL", names[i]}; });
  });
}

TEST_P(Complexity, OfFields) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"HSET", "k", names[i], "v"}; });
    world.RunEach(names,
                  [&](size_t i) { return std::vector<Bytes>{"HPEXPIRE", "k", "100000", "FIELDS", "1", names[i]}; });
    EXPECT_EQ(world.client.Run("HLEN k").Integer(), static_cast<int64_t>(names.size()));
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"HDEL", "k", names[i]}; });
  });
}

TEST_P(Complexity, OfMembers) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SADD", "k", names[i]}; });
    const std::string tenth = std::to_string(names.size() / 10);
    EXPECT_EQ(world.client.Run({"SRANDMEMBER", "k", tenth}).Size(), names.size() / 10);
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SREM", "k", names[i]}; });
  });
}

TEST_P(Complexity, OfMembersWithEqualScores) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ZADD", "k", "1", names[i]}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ZRANK", "k", names[i]}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ZREM", "k", names[i]}; });
  });
}

TEST_P(Complexity, OfScoresInOrder) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    std::vector<std::string> scores;
    for (size_t i = 0; i < names.size(); ++i) scores.push_back(std::to_string(names.size() - i));
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ZADD", "k", scores[i], names[i]}; });
    world.RunEach(names, [&](size_t) { return std::vector<Bytes>{"ZPOPMAX", "k"}; });
  });
}

TEST_P(Complexity, OfAlgebra) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SADD", i % 2 == 0 ? "a" : "b", names[i]}; });
    EXPECT_EQ(world.client.Run("SUNIONSTORE c a b").Integer(), static_cast<int64_t>(names.size()));
    EXPECT_EQ(world.client.Run("SINTERCARD 2 a c").Integer(), static_cast<int64_t>((names.size() + 1) / 2));
    EXPECT_EQ(world.client.Run("ZUNIONSTORE d 2 a b").Integer(), static_cast<int64_t>(names.size()));
  });
}

TEST_P(Complexity, OfWatchedKeys) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunWithMany("WATCH", names);
    world.client.Run("UNWATCH");
  });
}

TEST_P(Complexity, OfWaitingKeys) {
  ExpectNoWorseThanRandom(Count() / 5, [](World& world, const auto& names) {
    std::vector<std::unique_ptr<TestClient>> waiting;
    for (size_t i = 0; i < names.size(); i += 1000) {
      std::vector<Bytes> words{"BLPOP"};
      for (size_t j = i; j < std::min(names.size(), i + 1000); ++j) words.push_back(names[j]);
      words.push_back("0");
      std::string request;
      World::AppendRequest(request, words);
      waiting.push_back(std::make_unique<TestClient>(world.server));
      waiting.back()->Raw(request);
    }
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"PUBLISH", names[i], "v"}; });
    world.client.Run({"RPUSH", names.front(), "v"});
    EXPECT_TRUE(waiting.front()->Read().HasValue());
  });
}

TEST_P(Complexity, OfTrackedKeys) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    TestClient reader(world.server, RespVersion::kResp3);
    reader.Run("CLIENT TRACKING ON");
    for (const std::string& name : names) {
      std::string request;
      World::AppendRequest(request, {"GET", name});
      reader.Raw(request);
    }
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SET", names[i], "v"}; });
  });
}

TEST_P(Complexity, OfChannelsAndPatterns) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunWithMany("SUBSCRIBE", names);
    TestClient publisher(world.server);
    for (const std::string& name : names) {
      std::string request;
      World::AppendRequest(request, {"PUBLISH", name, "v"});
      ASSERT_EQ(publisher.Raw(request), ":1\r\n");
    }
    world.RunWithMany("UNSUBSCRIBE", names);
    world.RunWithMany("SSUBSCRIBE", names);
    world.RunWithMany("SUNSUBSCRIBE", names);
    world.RunWithMany("PSUBSCRIBE", names);
    world.RunWithMany("PUNSUBSCRIBE", names);
  });
}

TEST_P(Complexity, OfScriptsAndUsers) {
  ExpectNoWorseThanRandom(Count() / 50, [](World& world, const auto& names) {
    std::vector<std::string> scripts;
    for (const std::string& name : names) {
      std::string hex;
      for (char c : name) {
        constexpr char kHex[] = "0123456789abcdef";
        hex += {kHex[static_cast<uint8_t>(c) >> 4], kHex[c & 15]};
      }
      scripts.push_back("--" + hex + "\nreturn 1");
    }
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"EVAL", scripts[i], "0"}; });
    std::vector<std::string> users;
    for (const std::string& script : scripts) users.push_back(script.substr(2, script.size() - 11));
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ACL", "SETUSER", users[i]}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ACL", "DELUSER", users[i]}; });
  });
}

// An attacker may have chosen the keys in a file.
TEST_P(Complexity, OfWhatAFileHolds) {
  ExpectNoWorseThanRandom(Count(), [](World& world, const auto& names) {
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SET", names[i], "v", "EX", "1000"}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"HSET", "a hash", names[i], "v"}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"SADD", "a set", names[i]}; });
    world.RunEach(names, [&](size_t i) { return std::vector<Bytes>{"ZADD", "a sorted set", "1", names[i]}; });
    world.client.Run("SAVE");
    TestServer loaded(TestServer::Options{.files = &world.server.files()});
    loaded.Load();
    EXPECT_EQ(loaded->services().data.dataset.keyspace[0].Size(), names.size() + 3);
    EXPECT_EQ(loaded->services().data.dataset.keyspace[0].Entries().CollisionCount(), 0u);
  });
}

}  // namespace
}  // namespace respite
