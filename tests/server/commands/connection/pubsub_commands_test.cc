// SUBSCRIBE, PUBLISH and their families, and keyspace events. tests/transcripts/pubsub.resp has the exact replies.
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PubSubCommands : public CommandTest {
 protected:
  explicit PubSubCommands(std::vector<std::string> directives = {}) : CommandTest(std::move(directives)) {}

  ReplyMatcher Message(std::string channel, std::string text) {
    return PushOf({Bulk("message"), Bulk(std::move(channel)), Bulk(std::move(text))});
  }
  ReplyMatcher PatternMessage(std::string pattern, std::string channel, std::string text) {
    return PushOf({Bulk("pmessage"), Bulk(std::move(pattern)), Bulk(std::move(channel)), Bulk(std::move(text))});
  }
  ReplyMatcher Confirmation(std::string word, std::string name, int64_t count) {
    return PushOf({Bulk(std::move(word)), Bulk(std::move(name)), Int(count)});
  }
  size_t Topics(PubSubKind kind) { return server()->services().clients.pubsub.TopicCount(kind); }
};
INSTANTIATE_TEST_SUITE_P(Resp, PubSubCommands, BothVersions(), VersionName);

TEST_P(PubSubCommands, AMessageReachesEachSubscriberInItsOwnProtocol) {
  TestClient two(server(), RespVersion::kResp2);
  TestClient three(server(), RespVersion::kResp3);
  two.Run("SUBSCRIBE c");
  three.Run("SUBSCRIBE c");
  EXPECT_THAT(Run("PUBLISH c hello"), Int(2));
  EXPECT_EQ(two.Raw(""), "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n");
  EXPECT_EQ(three.Raw(""), ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n");
}

TEST_P(PubSubCommands, MessagesOfAnyLengthArrive) {
  TestClient other(server(), GetParam());
  other.Run("SUBSCRIBE c");
  for (size_t length : {0u, 1u, 4000u, 4096u, 5000u, 16384u, 40000u}) {
    const std::string text(length, static_cast<char>('a' + length % 26));
    EXPECT_THAT(Run({"PUBLISH", "c", text}), Int(1));
    EXPECT_THAT(other.Read(), Message("c", text)) << length;
  }
}

TEST_P(PubSubCommands, ManyMessagesInOneTurnKeepTheirOrder) {
  TestClient first(server(), GetParam());
  TestClient second(server(), GetParam());
  first.Run("SUBSCRIBE a b");
  second.Run("SUBSCRIBE b");
  std::string requests;
  for (size_t i = 0; i < 3000; ++i) {
    requests += EncodeRequest({"PUBLISH", i % 3 == 0 ? "a" : "b", StrCat(i, std::string(i % 50, 'x'))});
  }
  client().Raw(requests);
  EXPECT_THAT(first.Read(), Confirmation("subscribe", "b", 2));  // the reply confirmed `a`
  for (size_t i = 0; i < 3000; ++i) {
    const std::string text = StrCat(i, std::string(i % 50, 'x'));
    ASSERT_THAT(first.Read(), Message(i % 3 == 0 ? "a" : "b", text));
    if (i % 3 != 0) {
      ASSERT_THAT(second.Read(), Message("b", text));
    }
  }
  EXPECT_THAT(first.Read(), NoReply());
  EXPECT_THAT(second.Read(), NoReply());
}

TEST_P(PubSubCommands, AnOverlappingSubscriptionGetsAMessageTwice) {
  TestClient other(server(), GetParam());
  other.Run("PSUBSCRIBE n*");
  other.Run("SUBSCRIBE news");
  other.Run("PSUBSCRIBE *s");
  EXPECT_THAT(Run("PUBLISH news x"), Int(3));
  EXPECT_THAT(other.Read(), Message("news", "x"));
  EXPECT_THAT(other.Read(), PatternMessage("n*", "news", "x"));
  EXPECT_THAT(other.Read(), PatternMessage("*s", "news", "x"));
}

TEST_P(PubSubCommands, AClosedClientLeavesItsTopics) {
  {
    TestClient other(server(), GetParam());
    other.Run("SUBSCRIBE a b");
    other.Run("PSUBSCRIBE p*");
    other.Run("SSUBSCRIBE s");
    EXPECT_EQ(Topics(PubSubKind::kChannel), 2u);
    EXPECT_EQ(Topics(PubSubKind::kPattern), 1u);
    EXPECT_EQ(Topics(PubSubKind::kShardChannel), 1u);
  }
  for (PubSubKind kind : {PubSubKind::kChannel, PubSubKind::kPattern, PubSubKind::kShardChannel})
    EXPECT_EQ(Topics(kind), 0u);
  EXPECT_THAT(Run("PUBLISH a x"), Int(0));
}

TEST_P(PubSubCommands, OneClientMayHaveManyChannels) {
  constexpr int kChannels = 10'000;
  TestClient other(server(), GetParam());
  std::vector<std::string> words = {"SUBSCRIBE"};
  for (int i = 0; i < kChannels; ++i) words.push_back(StrCat("channel:", i));
  EXPECT_THAT(other.Run(words), Confirmation("subscribe", "channel:0", 1));
  EXPECT_EQ(Topics(PubSubKind::kChannel), static_cast<size_t>(kChannels));
  const size_t held_bytes = other.session().HeldBytes();
  EXPECT_GT(held_bytes, kChannels * sizeof(void*));
  EXPECT_THAT(Run("PUBLISH channel:9999 x"), Int(1));
  for (int i = 1; i < kChannels; ++i) {
    ASSERT_THAT(other.Read(), Confirmation("subscribe", StrCat("channel:", i), i + 1));
  }
  EXPECT_THAT(other.Read(), Message("channel:9999", "x"));
  // Takes many turns, in an arbitrary order.
  std::set<std::string> left;
  TestReply reply = other.Run("UNSUBSCRIBE");
  for (int i = kChannels - 1; i >= 0; --i, reply = other.Read()) {
    ASSERT_THAT(reply, PushOf({Bulk("unsubscribe"), AnyReply(), Int(i)}));
    EXPECT_TRUE(left.insert(reply[1].Text()).second);
  }
  EXPECT_FALSE(reply.HasValue());
  EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
  EXPECT_LT(other.session().HeldBytes(), held_bytes);
}

TEST_P(PubSubCommands, UnsubscribingFromManyIsOneCommandInATransactionAndForMonitors) {
  TestClient other(server(), RespVersion::kResp3);
  for (int i = 0; i < 3000; ++i) other.Run(StrCat("SUBSCRIBE c", i));
  TestClient monitor(server());
  monitor.Run("MONITOR");
  other.Run("UNSUBSCRIBE");
  EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
  EXPECT_TRUE(monitor.Read().HasValue());
  EXPECT_FALSE(monitor.Read().HasValue());
  for (int i = 0; i < 3000; ++i) other.Run(StrCat("PSUBSCRIBE c", i));
  other.Run("MULTI");
  other.Run("PUNSUBSCRIBE");
  other.Run("EXEC");
  EXPECT_EQ(Topics(PubSubKind::kPattern), 0u);
}

// UNSUBSCRIBE from many channels takes several turns; Between runs after the first of them.
class ManySubscriptions : public PubSubCommands {
 protected:
  static constexpr int kChannels = 3500;

  ManySubscriptions() {
    std::vector<std::string> words = {"SUBSCRIBE"};
    for (int i = 0; i < kChannels; ++i) words.push_back(StrCat("channel:", i));
    other_.Run(words);
    for (int i = 1; i < kChannels; ++i) other_.Read();
  }

  void Between(std::function<void()> happens) {
    server().Post([this, happens = std::move(happens)] {
      EXPECT_EQ(Topics(PubSubKind::kChannel), static_cast<size_t>(kChannels - 1000));
      happens();
    });
  }
  const CommandStats& Stats() {
    return server()->services().env.commands.StatsOf(*server()->services().env.commands.Find("unsubscribe"));
  }
  TestClient& other() { return other_; }

 private:
  TestClient other_{server(), GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Resp, ManySubscriptions, BothVersions(), VersionName);

TEST_P(ManySubscriptions, EndThoughTheGatesCloseMeanwhile) {
  Between([this] {
    EXPECT_THAT(Run("ACL SETUSER default -unsubscribe"), Ok());
    EXPECT_THAT(Run("CLIENT PAUSE 100000 ALL"), Ok());
  });
  TestReply reply = other().Run("UNSUBSCRIBE");
  for (int i = kChannels - 1; i >= 0; --i, reply = other().Read()) {
    ASSERT_THAT(reply, PushOf({Bulk("unsubscribe"), AnyReply(), Int(i)}));
  }
  EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
  EXPECT_EQ(Stats().rejected_calls, 0u);
}

TEST_P(ManySubscriptions, AreCountedOnceWithAllTheirTime) {
  clock().AdvanceWithEachReading(1000);
  other().Run("UNSUBSCRIBE");
  EXPECT_EQ(Stats().calls, 1u);
  EXPECT_GE(Stats().usec, 4000u);
}

TEST_P(ManySubscriptions, ReplyBeforeLaterRequests) {
  Between([this] { EXPECT_THAT(Run("PUBLISH news x"), Int(0)); });
  const std::string replies = other().Raw(EncodeRequest({"UNSUBSCRIBE"}) + EncodeRequest({"GET", "k"}));
  const std::string null = IsResp3() ? "_\r\n" : "$-1\r\n";
  EXPECT_TRUE(replies.ends_with(":0\r\n" + null)) << replies.substr(replies.size() - 100);
}

TEST_P(ManySubscriptions, GoWithAClientThatIsKilled) {
  Between([this] {
    EXPECT_THAT(Run(StrCat("CLIENT KILL SKIPME yes ID ", other().session().id)), Int(1));
    EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
  });
  other().Send("UNSUBSCRIBE");
  EXPECT_TRUE(other().Closed());
  EXPECT_EQ(Stats().calls, 0u);
  EXPECT_EQ(server()->services().clients.registry.Count(), 1u);
  EXPECT_THAT(Run("PING"), Simple("PONG"));
}

// The order of 7.2: confirmations of SUBSCRIBE and similar commands replace the reply of EXEC, and messages that the
// transaction published follow them.
TEST_P(PubSubCommands, OwnMessagesOfASilentTransactionFollowItsAnswers) {
  if (!IsResp3()) return;  // a RESP2 subscriber may not publish
  Run("SUBSCRIBE c");
  for (const std::string mode : {"OFF", "SKIP"}) {
    std::string requests = "MULTI\r\nPUBLISH c 1\r\nUNSUBSCRIBE c\r\nSUBSCRIBE c\r\nPUBLISH c 2\r\n";
    if (mode == "OFF") requests = "CLIENT REPLY OFF\r\n" + requests + "EXEC\r\nCLIENT REPLY ON\r\n";
    if (mode == "SKIP") requests += "CLIENT REPLY SKIP\r\nEXEC\r\n";
    const std::string replies = client().Raw(requests);
    const auto first = replies.find("message");
    ASSERT_NE(first, std::string::npos) << replies;
    EXPECT_LT(replies.find("unsubscribe"), first) << mode;
    EXPECT_EQ(replies.rfind("subscribe", first), replies.rfind("subscribe")) << mode;
    EXPECT_LT(first, replies.rfind("message")) << mode;
  }
}

TEST_P(PubSubCommands, SubscribersKeepTheirOrderWhenOthersLeave) {
  constexpr int kClients = 300;
  std::deque<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TestClient>(server(), GetParam()));
    clients.back()->Run("SUBSCRIBE c");
  }
  for (int left = kClients; left > 0; --left) {  // alternates between front and back
    EXPECT_THAT(Run(StrCat("PUBLISH c ", left)), Int(left));
    for (auto& each : clients) ASSERT_THAT(each->Read(), Message("c", std::to_string(left)));
    if (left % 3 == 0) {
      clients.pop_back();
    } else {
      clients.pop_front();
    }
  }
  EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
}

TEST_P(PubSubCommands, ClientListTellsOfSubscriptions) {
  TestClient other(server(), GetParam());
  other.Run("SUBSCRIBE a b c");
  other.Run("PSUBSCRIBE p");
  other.Run("SSUBSCRIBE s t");
  const std::string id = std::to_string(other.session().id);
  EXPECT_THAT(Run("CLIENT LIST TYPE pubsub").Text(),
              AllOf(HasSubstr("id=" + id), HasSubstr("flags=P"), HasSubstr(" sub=3 psub=1 ssub=2 ")));
  EXPECT_THAT(Run("CLIENT LIST TYPE normal").Text(), testing::Not(HasSubstr("id=" + id + " ")));
  EXPECT_THAT(Run("INFO stats").Text(),
              HasSubstr("pubsub_channels:3\r\npubsub_patterns:1\r\npubsubshard_channels:2\r\n"));
  other.Run("UNSUBSCRIBE");
  other.Run("PUNSUBSCRIBE");
  other.Run("SUNSUBSCRIBE");
  EXPECT_THAT(Run("CLIENT LIST ID " + id).Text(), AllOf(HasSubstr("flags=N"), HasSubstr(" sub=0 psub=0 ssub=0 ")));
  EXPECT_EQ(other.session().subscriptions, nullptr);
}

TEST_P(PubSubCommands, ResetLeavesTheSubscribedMode) {
  TestClient other(server(), RespVersion::kResp2);
  other.Run("SUBSCRIBE a");
  EXPECT_THAT(other.Run("GET k"), ErrorStartsWith("ERR Can't execute 'get': only (P|S)SUBSCRIBE"));
  EXPECT_THAT(other.Run("PING"), Bulks({"pong", ""}));
  EXPECT_THAT(other.Run("RESET"), Simple("RESET"));
  EXPECT_THAT(other.Run("GET k"), Nil());
  EXPECT_THAT(other.Run("PING"), Simple("PONG"));
  EXPECT_EQ(Topics(PubSubKind::kChannel), 0u);
}

TEST_P(PubSubCommands, AnOrdinarySessionHasNoSubscriptions) {
  Run("SET k v");
  Run("PUBLISH c x");
  EXPECT_EQ(client().session().subscriptions, nullptr);
}

TEST_P(PubSubCommands, PublishingIsForReplicasOnly) {
  Run("PUBLISH c x");
  Run("SPUBLISH c x");
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: PUBLISH c x", "0: SPUBLISH c x"));
  for (const auto& record : server().journal().Records()) EXPECT_EQ(record.targets, JournalEntry::kReplicas);
}

// ---- slow subscribers ----

class SlowSubscribers : public PubSubCommands {
 protected:
  SlowSubscribers() : PubSubCommands({"client-output-buffer-limit pubsub 100kb 50kb 10"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, SlowSubscribers, BothVersions(), VersionName);

TEST_P(SlowSubscribers, AreClosedWhileTheOthersGetEverything) {
  TestClient before(server(), GetParam());
  TestClient slow(server(), GetParam());
  TestClient after(server(), GetParam());
  for (TestClient* each : {&before, &slow, &after}) each->Run("SUBSCRIBE c");
  slow.SetReading(TestClient::Reading::kNo);
  const std::string text(1000, 'x');
  int64_t receivers = 3;
  int published = 0;
  while (receivers == 3) {
    receivers = Run({"PUBLISH", "c", text}).Integer();
    ASSERT_LT(++published, 1000);
    EXPECT_THAT(before.Read(), Message("c", text));
    EXPECT_THAT(after.Read(), Message("c", text));
  }
  EXPECT_GT(published, 100);
  EXPECT_LT(published, 140);
  EXPECT_TRUE(slow.Closed());
  EXPECT_EQ(receivers, 2);
  EXPECT_THAT(Run("PUBSUB NUMSUB c"), ArrayOf(Bulk("c"), Int(2)));
}

TEST_P(SlowSubscribers, AreClosedInTheMiddleOfATurn) {
  TestClient slow(server(), GetParam());
  TestClient other(server(), GetParam());
  slow.Run("PSUBSCRIBE *");
  slow.Run("SUBSCRIBE c");
  other.Run("SUBSCRIBE c");
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += EncodeRequest({"PUBLISH", "c", std::string(1000, 'x')});
  client().Raw(requests);  // nothing is sent before the turn ends
  EXPECT_TRUE(slow.Closed());
  EXPECT_TRUE(other.Closed());
  EXPECT_THAT(Run("PUBLISH c x"), Int(0));
}

TEST_P(SlowSubscribers, ShareTheTextOfMessages) {
  constexpr int kClients = 1000;
  std::deque<TestClient> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back(server(), GetParam());
    clients.back().Run("SUBSCRIBE c");
    clients.back().SetReading(TestClient::Reading::kNo);
  }
  const size_t used_before_bytes = server()->services().data.memory.UsedBytes();
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Run({"PUBLISH", "c", std::string(1000, 'x')}), Int(kClients));
  for (TestClient& each : clients) {
    EXPECT_GT(each.session().out.Size(), 10'000u);
    EXPECT_EQ(each.session().out.SegmentCount(), 1u);
  }
  EXPECT_LT(server()->services().data.memory.UsedBytes(), used_before_bytes + kClients * 200);
}

// ---- keyspace events ----

class KeyspaceEvents : public PubSubCommands {
 protected:
  KeyspaceEvents() : PubSubCommands({"notify-keyspace-events KEA"}), listener_(server(), RespVersion::kResp3) {
    listener_.Run("PSUBSCRIBE __key*");
  }
  // "set k" for each message on a keyevent channel, "k: set" for those on a keyspace channel.
  std::vector<std::string> Heard() {
    std::vector<std::string> heard;
    for (TestReply reply = listener_.Read(); reply.HasValue(); reply = listener_.Read()) {
      const std::string channel = reply[2].Text();
      const std::string name = channel.substr(channel.find(':') + 1);
      const std::string text = reply[3].Text();
      heard.push_back(channel.starts_with("__keyspace@") ? name + ": " + text : text + " " + name);
    }
    return heard;
  }
  TestClient listener_;
};
INSTANTIATE_TEST_SUITE_P(Resp, KeyspaceEvents, BothVersions(), VersionName);

using Texts = std::vector<std::string>;

TEST_P(KeyspaceEvents, SendKeyspaceThenKeyevent) {
  Run("SET k v");
  EXPECT_EQ(Heard(), (Texts{"k: set", "k set"}));
  Run("SELECT 3");
  Run("DEL k");
  Run("LPUSH k a");
  EXPECT_EQ(Heard(), (Texts{"k: lpush", "k lpush"}));
}

TEST_P(KeyspaceEvents, FollowTheDirective) {
  Run("CONFIG SET notify-keyspace-events Kl");
  Run("SET k v");
  Run("LPUSH l v");
  EXPECT_EQ(Heard(), Texts{"l: lpush"});
  Run("CONFIG SET notify-keyspace-events E$mn");
  Run("SET m v");
  Run("GET nosuch");
  EXPECT_EQ(Heard(), (Texts{"m new", "m set", "nosuch keymiss"}));
  Run("CONFIG SET notify-keyspace-events ''");
  Run("SET k v");
  EXPECT_EQ(Heard(), Texts{});
}

TEST_P(KeyspaceEvents, HaveExpiredEvents) {
  Run("CONFIG SET notify-keyspace-events Ex");
  Run("SET k v PX 100");
  Run("SET other v PX 100");
  clock().AdvanceMs(101);
  Run("GET k");
  EXPECT_EQ(Heard(), Texts{"k expired"});
  server().RunCronFor(1000);
  EXPECT_EQ(Heard(), Texts{"other expired"});
}

TEST_P(KeyspaceEvents, AreNoEffects) {
  Run("SET k v");
  EXPECT_EQ(Journaled(), Texts{"0: SET k v"});
}

class SubkeyEvents : public KeyspaceEvents {
 protected:
  SubkeyEvents() {
    listener_.Run("PSUBSCRIBE __subkey*");
    Letters("S");
  }
  void Letters(const std::string& letters) { Run("CONFIG SET notify-keyspace-events " + letters); }
  // "CHANNEL TEXT" for each message. Channel names are without "__subkey" and "@0__".
  Texts Messages() {
    Texts messages;
    for (TestReply reply = listener_.Read(); reply.HasValue(); reply = listener_.Read()) {
      std::string channel = reply[2].Text();
      EXPECT_TRUE(channel.starts_with("__subkey")) << channel;
      channel.erase(0, std::string_view("__subkey").size());
      channel.erase(channel.find("@0__"), std::string_view("@0__").size());
      messages.push_back(channel + " " + reply[3].Text());
    }
    return messages;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, SubkeyEvents, BothVersions(), VersionName);

TEST_P(SubkeyEvents, HaveFourChannels) {
  Letters("STIV");
  EXPECT_THAT(Run("CONFIG GET notify-keyspace-events"), MapOf({{Bulk("notify-keyspace-events"), Bulk("STIV")}}));
  Run("HSET h f 1 field 2");
  EXPECT_EQ(Messages(), (Texts{"space:h hset|1:f,5:field", "event:hset 1:h|1:f,5:field", "spaceitem:h\nf hset",
                               "spaceitem:h\nfield hset", "spaceevent:hset|h 1:f,5:field"}));
  for (const auto& [letter, message] : {std::pair("S", "space:h hdel|1:f"), {"V", "spaceevent:hdel|h 1:f"}}) {
    Run("HSET h f 1");
    Messages();
    Letters(letter);
    Run("HDEL h f");
    EXPECT_EQ(Messages(), Texts{message});
  }
}

TEST_P(SubkeyEvents, KeysWithALineEndHaveNoEventsOfItems) {
  Letters("I");
  Run({"HSET", "a\nb", "f", "1"});
  EXPECT_EQ(Messages(), Texts{});
  Run({"HSET", "a", "f\ng", "1"});
  EXPECT_EQ(Messages(), Texts{"spaceitem:a\nf\ng hset"});
}

TEST_P(SubkeyEvents, NameTheFieldsThatACommandChanges) {
  const struct {
    const char* line;
    Texts messages;
  } rows[] = {
      {"HSET h a 1 b 2 c 3 d 4 e 5", {"space:h hset|1:a,1:b,1:c,1:d,1:e"}},
      {"HSETNX h a 2", {}},
      {"HSETNX h n 1", {"space:h hset|1:n"}},
      {"HMSET h a 1", {"space:h hset|1:a"}},
      {"HINCRBY h a 1", {"space:h hincrby|1:a"}},
      {"HINCRBYFLOAT h b 0.5", {"space:h hincrbyfloat|1:b"}},
      {"HDEL h none", {}},
      {"HDEL h none n", {"space:h hdel|1:n"}},
      {"HEXPIRE h 100 FIELDS 3 a none b", {"space:h hexpire|1:a,1:b"}},
      {"HEXPIRE h 100 NX FIELDS 2 a c", {"space:h hexpire|1:c"}},
      {"HPEXPIRE h 0 FIELDS 1 c", {"space:h hdel|1:c"}},
      {"HPERSIST h FIELDS 2 a d", {"space:h hpersist|1:a"}},
      {"HGETEX h EX 100 FIELDS 2 a none", {"space:h hexpire|1:a"}},
      {"HGETEX h PERSIST FIELDS 2 a d", {"space:h hpersist|1:a"}},
      {"HGETEX h PXAT 1 FIELDS 1 d", {"space:h hdel|1:d"}},
      {"HGETDEL h FIELDS 2 e none", {"space:h hdel|1:e"}},
      {"HSETEX h FIELDS 2 x 1 y 2", {"space:h hset|1:x,1:y"}},
      {"HSETEX h EX 100 FIELDS 1 z 1", {"space:h hset|1:z", "space:h hexpire|1:z"}},
      {"HSETEX h PXAT 1 FIELDS 1 z 1", {"space:h hset|1:z", "space:h hdel|1:z"}},
      {"HIMPORT PREPARE s p q", {}},
      {"HIMPORT SET h s 1 2", {"space:h hset|1:p,1:q"}},
      {"SET h v", {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.line);
    Run(row.line);
    EXPECT_EQ(Messages(), row.messages);
  }
}

TEST_P(SubkeyEvents, NameTheFieldsThatExpire) {
  for (const char* entries : {"512", "0"}) {
    SCOPED_TRACE(std::string("hash-max-listpack-entries ") + entries);
    Run({"CONFIG", "SET", "hash-max-listpack-entries", entries});
    Run("DEL h");
    Run("HSET h a 1 b 2");
    Run("HPEXPIRE h 10 FIELDS 1 a");
    Messages();
    clock().AdvanceMs(11);
    Run("HGET h a");
    EXPECT_EQ(Messages(), Texts{"space:h hexpired|1:a"});
    Run("HPEXPIRE h 10 FIELDS 1 b");
    Messages();
    clock().AdvanceMs(11);
    server().RunCronFor(1000);
    EXPECT_EQ(Messages(), Texts{"space:h hexpired|1:b"});
    EXPECT_THAT(Run("EXISTS h"), Int(0));
  }
}

TEST_P(KeyspaceEvents, EventsOfOwnChangesComeAfterTheReply) {
  if (!IsResp3()) return;
  Run("SUBSCRIBE __keyspace@0__:k");
  EXPECT_EQ(client().Raw(EncodeRequest({"SET", "k", "v"})),
            "+OK\r\n>3\r\n$7\r\nmessage\r\n$16\r\n__keyspace@0__:k\r\n$3\r\nset\r\n");
}

}  // namespace
}  // namespace respite
