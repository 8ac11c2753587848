// Client-side caching: which clients get which invalidations, and when.
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kRedirectUnknown[] = "ERR The client ID you want redirect to does not exist";
constexpr char kPrefixWithoutBcast[] = "ERR PREFIX option requires BCAST mode to be enabled";
constexpr char kBcastSwitch[] =
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr char kOptWithBcast[] = "ERR OPTIN and OPTOUT are not compatible with BCAST";
constexpr char kOptInAndOut[] = "ERR You can't specify both OPTIN mode and OPTOUT mode";
constexpr char kOptSwitch[] =
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr char kCachingWithoutOpt[] =
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";
constexpr char kCachingYes[] = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";

constexpr char kInvalidateHead[] = ">2\r\n$10\r\ninvalidate\r\n";

std::string Invalidate(const std::vector<std::string>& keys) {
  std::string text = kInvalidateHead;
  StrAppend(text, "*", keys.size(), "\r\n");
  for (const std::string& key : keys) StrAppend(text, "$", key.size(), "\r\n", key, "\r\n");
  return text;
}

class TrackingTest : public testing::Test {
 protected:
  // The messages that the reader receives when the other client runs this command.
  std::string After(Bytes line) {
    writer_.Run(line);
    return reader_.Raw("");
  }
  std::string Ask(Bytes line) { return reader_.Raw(EncodeRequest(SplitQuoted(line).value())); }

  TestServer server_;
  TestClient reader_{server_, RespVersion::kResp3};
  TestClient writer_{server_};
};

// Also if another client has a prefix that is longer than the changed keys.
TEST_F(TrackingTest, ManyChangedNamesBecomeOneInvalidationOfAllKeys) {
  reader_.Run("CLIENT TRACKING ON BCAST");
  TestClient other(server_, RespVersion::kResp3);
  other.Run("CLIENT TRACKING ON BCAST PREFIX " + std::string(2000, 'p'));
  EXPECT_EQ(After("EVAL \"for i = 1, 20000 do redis.call('SET', i .. string.rep('x', 1000), 1) end\" 0"),
            ">2\r\n$10\r\ninvalidate\r\n_\r\n");
}

TEST_F(TrackingTest, AReadKeyIsInvalidatedOnce) {
  reader_.Run("CLIENT TRACKING ON");
  reader_.Run("GET k");
  EXPECT_EQ(After("SET k 1"), Invalidate({"k"}));
  EXPECT_EQ(After("SET k 2"), "");
  reader_.Run("MGET k j");
  EXPECT_EQ(After("MSET j 1 k 2"), Invalidate({"j"}) + Invalidate({"k"}));
}

TEST_F(TrackingTest, EveryRemovalIsAnInvalidation) {
  reader_.Run("CLIENT TRACKING ON");
  for (const char* change : {"DEL k", "UNLINK k", "RENAME k j", "MOVE k 1", "EXPIRE k 100", "GETDEL k"}) {
    writer_.Run("FLUSHALL");
    reader_.Raw("");
    writer_.Run("SET k 1");
    reader_.Run("GET k");
    EXPECT_EQ(After(change), Invalidate({"k"})) << change;
  }
}

TEST_F(TrackingTest, ExpiryIsAnInvalidation) {
  reader_.Run("CLIENT TRACKING ON");
  writer_.Run("SET k 1 PX 50");
  reader_.Run("GET k");
  server_.RunCronFor(200);
  EXPECT_EQ(reader_.Raw(""), Invalidate({"k"}));
}

TEST_F(TrackingTest, OwnChangesComeAfterTheReply) {
  reader_.Run("CLIENT TRACKING ON");
  reader_.Run("GET k");
  EXPECT_EQ(Ask("SET k 1"), "+OK\r\n" + Invalidate({"k"}));
  reader_.Run("MULTI");
  reader_.Run("GET k");
  reader_.Run("INCR k");
  EXPECT_EQ(Ask("EXEC"), "*2\r\n$1\r\n1\r\n:2\r\n" + Invalidate({"k"}));
}

TEST_F(TrackingTest, NoLoopHidesOwnChanges) {
  reader_.Run("CLIENT TRACKING ON NOLOOP");
  reader_.Run("GET k");
  EXPECT_EQ(Ask("SET k 1"), "+OK\r\n");
  reader_.Run("GET k");
  EXPECT_EQ(After("SET k 2"), Invalidate({"k"}));
}

TEST_F(TrackingTest, OptInCountsTheNextCommandOnly) {
  reader_.Run("CLIENT TRACKING ON OPTIN");
  reader_.Run("GET a");
  reader_.Run("CLIENT CACHING YES");
  reader_.Run("GET b");
  reader_.Run("GET c");
  EXPECT_EQ(After("MSET a 1 b 1 c 1"), Invalidate({"b"}));
}

TEST_F(TrackingTest, AFailedCommandUsesUpTheChoice) {
  Ask("SET s text");
  reader_.Run("CLIENT TRACKING ON OPTIN");
  for (const char* failing : {"NOSUCH", "GET", "INCR s", "EXEC"}) {
    reader_.Run("CLIENT CACHING YES");
    reader_.Run(failing);
    reader_.Run("GET a");
    EXPECT_EQ(After("SET a 1"), "") << failing;
  }
}

TEST_F(TrackingTest, AnEmptyRequestUsesUpTheChoiceOutsideOfTransactions) {
  reader_.Run("CLIENT TRACKING ON OPTIN");
  EXPECT_EQ(reader_.Raw("CLIENT CACHING YES\r\n\r\nGET a\r\n"), "+OK\r\n_\r\n");
  EXPECT_EQ(After("SET a 1"), "");
  EXPECT_EQ(reader_.Raw("CLIENT CACHING YES\r\nMULTI\r\n\r\nGET a\r\nEXEC\r\n"),
            "+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n");
  EXPECT_EQ(After("SET a 2"), Invalidate({"a"}));
}

TEST_F(TrackingTest, OptInCountsAWholeTransaction) {
  reader_.Run("CLIENT TRACKING ON OPTIN");
  reader_.Run("CLIENT CACHING YES");
  for (const char* line : {"MULTI", "GET a", "GET b", "EXEC", "GET c"}) reader_.Run(line);
  EXPECT_EQ(After("MSET a 1 b 1 c 1"), Invalidate({"a"}) + Invalidate({"b"}));
}

TEST_F(TrackingTest, OptOutLeavesOutTheNextCommand) {
  reader_.Run("CLIENT TRACKING ON OPTOUT");
  reader_.Run("CLIENT CACHING NO");
  reader_.Run("GET a");
  reader_.Run("GET b");
  EXPECT_EQ(After("MSET a 1 b 1"), Invalidate({"b"}));
}

TEST_F(TrackingTest, BroadcastTellsWhatBeginsWithAPrefixOnceATurn) {
  reader_.Run("CLIENT TRACKING ON BCAST PREFIX a: PREFIX b:");
  EXPECT_EQ(After("MSET a:2 1 c:1 1 a:1 1 b:1 1"), Invalidate({"a:1", "a:2"}) + Invalidate({"b:1"}));
  EXPECT_EQ(After("SET c:1 2"), "");
}

// The names that a script has changed would otherwise need any amount of memory until the end of the turn.
TEST_F(TrackingTest, ABroadcastOfTooLongNamesTellsThatAllKeysAreInvalid) {
  const std::string all = StrCat(kInvalidateHead, "_\r\n");
  const std::string long_text(1 << 20, 'x');
  for (const char* no_loop : {"", " NOLOOP"}) {
    TestClient reader(server_, RespVersion::kResp3);
    reader.Run(StrCat("CLIENT TRACKING ON BCAST PREFIX a: PREFIX b:", no_loop));
    std::vector<std::string> words = {"MSET"};
    for (int i = 0; i < 20; ++i) words.insert(words.end(), {StrCat("a:", i, long_text), "1"});
    words.insert(words.end(), {"b:1", "1"});
    writer_.Run(words);
    EXPECT_EQ(reader.Raw(""), all + Invalidate({"b:1"}));
    writer_.Run("SET a:1 1");
    EXPECT_EQ(reader.Raw(""), Invalidate({"a:1"})) << "the next turn begins anew";
  }
}

TEST_F(TrackingTest, BroadcastWithNoLoopTellsTheChangesOfOthers) {
  reader_.Run("CLIENT TRACKING ON BCAST NOLOOP");
  EXPECT_EQ(Ask("SET own 1"), "+OK\r\n");
  EXPECT_EQ(After("SET other 1"), Invalidate({"other"}));
}

TEST_F(TrackingTest, AFlushIsOneMessageWithoutKeys) {
  reader_.Run("CLIENT TRACKING ON");
  reader_.Run("MGET a b c");
  EXPECT_EQ(After("FLUSHALL"), std::string(kInvalidateHead) + "_\r\n");
  EXPECT_EQ(After("SET a 1"), "");
  EXPECT_EQ(Ask("FLUSHDB"), "+OK\r\n" + std::string(kInvalidateHead) + "_\r\n");
}

TEST_F(TrackingTest, RedirectedMessagesArePublicationsUnderResp2) {
  TestClient listener(server_);
  TestClient cacher(server_);
  listener.Run("SUBSCRIBE __redis__:invalidate");
  cacher.Run(StrCat("CLIENT TRACKING ON REDIRECT ", listener.session().id));
  cacher.Run("GET k");
  writer_.Run("SET k 1");
  EXPECT_EQ(listener.Raw(""), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n");
  writer_.Run("FLUSHALL");
  EXPECT_EQ(listener.Raw(""), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n$-1\r\n");
}

TEST_F(TrackingTest, AClientMayRedirectToItselfUnderResp2) {
  for (const char* mode : {"", " BCAST"}) {
    TestClient self(server_);
    self.Run(StrCat("CLIENT TRACKING ON REDIRECT ", self.session().id, mode));
    self.Run("GET k");
    self.Run("SUBSCRIBE __redis__:invalidate");
    writer_.Run("SET k 1");
    EXPECT_EQ(self.Raw(""), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n") << mode;
    self.Run("UNSUBSCRIBE");
    self.Run("GET k");
    EXPECT_EQ(self.Raw(EncodeRequest({"SET", "k", "2"})), "+OK\r\n") << "nothing has a place between replies";
  }
}

TEST_F(TrackingTest, ALostRedirectIsReportedUnderResp3) {
  auto listener = std::make_unique<TestClient>(server_, RespVersion::kResp3);
  const std::string id = std::to_string(listener->session().id);
  reader_.Run("CLIENT TRACKING ON REDIRECT " + id);
  reader_.Run("GET k");
  listener.reset();
  EXPECT_EQ(After("SET k 1"), ">2\r\n$21\r\ntracking-redir-broken\r\n:" + id + "\r\n");
  EXPECT_THAT(reader_.Run("CLIENT TRACKINGINFO")[1].Texts(), testing::ElementsAre("on", "broken_redirect"));
}

TEST_F(TrackingTest, TheTableIsLimited) {
  writer_.Run("CONFIG SET tracking-table-max-keys 10");
  reader_.Run("CLIENT TRACKING ON");
  for (int i = 0; i < 500; ++i) reader_.Raw(EncodeRequest({"GET", StrCat("k", i)}));
  server_.RunCronFor(1000);
  EXPECT_LE(server_->services().clients.tracking.KeyCount(), 10u);
  EXPECT_EQ(server_->services().clients.tracking.ItemCount(), server_->services().clients.tracking.KeyCount());
}

// Between the reads of a script, no keys are forgotten. The client must drop all keys that it has cached.
TEST_F(TrackingTest, AScriptRemembersAtMostTwiceTheLimit) {
  writer_.Run("CONFIG SET tracking-table-max-keys 10");
  reader_.Run("CLIENT TRACKING ON");
  const std::string script = "for i = 1, ARGV[1] do redis.call('GET', 'k' .. i) end";
  const std::string all = StrCat(kInvalidateHead, "_\r\n");
  EXPECT_EQ(reader_.Raw(EncodeRequest({"EVAL", script, "0", "20"})), "_\r\n");
  EXPECT_EQ(server_->services().clients.tracking.KeyCount(), 20u);
  EXPECT_THAT(reader_.Raw(EncodeRequest({"EVAL", script, "0", "100"})), testing::EndsWith("_\r\n" + all));
  EXPECT_EQ(server_->services().clients.tracking.KeyCount(), 20u);
  EXPECT_THAT(After("PING"), testing::Not(testing::HasSubstr(all)));
}

// A thousand names may need more memory than a million others.
TEST_F(TrackingTest, TheNamesOfTheTableAreLimited) {
  writer_.Run("CONFIG SET tracking-table-max-keys 1000");
  reader_.Run("CLIENT TRACKING ON");
  for (const char c : {'a', 'b', 'c'}) reader_.Raw(EncodeRequest({"GET", std::string(30 << 20, c)}));
  reader_.Raw(EncodeRequest({"GET", "k"}));
  EXPECT_LE(server_->services().clients.tracking.KeyCount(), 3u);
  writer_.Run("CONFIG SET tracking-table-max-keys 1");
  server_.RunCronFor(1000);
  EXPECT_LE(server_->services().clients.tracking.KeyCount(), 1u);
}

TEST_F(TrackingTest, ClientsThatLeaveAreForgotten) {
  {
    TestClient leaver(server_, RespVersion::kResp3);
    leaver.Run("CLIENT TRACKING ON BCAST PREFIX a");
    EXPECT_EQ(server_->services().clients.tracking.PrefixCount(), 1u);
  }
  {
    TestClient leaver(server_, RespVersion::kResp3);
    leaver.Run("CLIENT TRACKING ON");
    leaver.Run("GET k");
  }
  EXPECT_EQ(server_->services().clients.tracking.ClientCount(), 0u);
  EXPECT_EQ(server_->services().clients.tracking.PrefixCount(), 0u);
  writer_.Run("SET k 1");
  EXPECT_EQ(server_->services().clients.tracking.KeyCount(), 0u);
}

// Closes a slow reader during a broadcast; the other clients receive it.
TEST_F(TrackingTest, ABroadcastSurvivesAClientThatOverrunsItsLimit) {
  writer_.Run("CONFIG SET client-output-buffer-limit \"normal 100000 0 0\"");
  TestClient slow(server_, RespVersion::kResp3);
  slow.Run("CLIENT TRACKING ON BCAST");
  TestClient last(server_, RespVersion::kResp3);
  last.Run("CLIENT TRACKING ON BCAST");
  slow.SetReading(TestClient::Reading::kNo);
  const std::string key(60'000, 'k');
  for (int i = 0; i < 4; ++i) writer_.Run({"SET", key, "1"});
  EXPECT_TRUE(slow.Closed());
  EXPECT_FALSE(last.Closed());
  EXPECT_EQ(server_->services().clients.tracking.ClientCount(), 1u);
}

TEST_F(TrackingTest, AClientClosedByInvalidationsRunsNothingMore) {
  writer_.Run("CONFIG SET client-output-buffer-limit \"normal 100000 0 0\"");
  reader_.Run("CLIENT TRACKING ON");
  for (char c : {'a', 'b', 'c'}) reader_.Run({"GET", std::string(60'000, c)});
  reader_.SetReading(TestClient::Reading::kNo);
  writer_.Run("CONFIG SET tracking-table-max-keys 1");
  reader_.Send("BLPOP l 0");
  EXPECT_TRUE(reader_.Closed());
  EXPECT_EQ(server_->services().clients.blocked.Keys(), 0u);
  writer_.Run("RPUSH l x");
  EXPECT_THAT(writer_.Run("LLEN l"), Int(1));
}

TEST_F(TrackingTest, AClientThatIsClosedInItsTransactionLeavesNothingBehind) {
  writer_.Run("CONFIG SET client-output-buffer-limit \"normal 100000 0 0\"");
  reader_.Run("MONITOR");
  reader_.SetReading(TestClient::Reading::kNo);
  reader_.Send("MULTI");
  reader_.Send("ECHO " + std::string(60'000, 'x'));
  reader_.Send("CLIENT TRACKING ON BCAST PREFIX a");
  reader_.Send("EXEC");
  EXPECT_TRUE(reader_.Closed());
  EXPECT_EQ(server_->services().clients.tracking.ClientCount(), 0u);
  EXPECT_EQ(server_->services().clients.tracking.PrefixCount(), 0u);
}

TEST_F(TrackingTest, MessagesDoNotWaitWithACommandThatWaits) {
  reader_.Run("CLIENT TRACKING ON");
  writer_.Run("SET k v PX 50");
  reader_.Run("GET k");
  server_.AdvanceMs(51);
  EXPECT_EQ(Ask("BLPOP k l 0"), Invalidate({"k"}));
}

struct RefusedOption {
  const char* before;
  const char* line;
  const char* text;
};

TEST_F(TrackingTest, RefusesIncompatibleOptions) {
  const RefusedOption cases[] = {
      {"CLIENT TRACKING OFF", "CLIENT TRACKING ON PREFIX a", kPrefixWithoutBcast},
      {"CLIENT TRACKING OFF", "CLIENT TRACKING ON BCAST OPTIN", kOptWithBcast},
      {"CLIENT TRACKING OFF", "CLIENT TRACKING ON OPTIN OPTOUT", kOptInAndOut},
      {"CLIENT TRACKING OFF", "CLIENT TRACKING ON REDIRECT 999", kRedirectUnknown},
      {"CLIENT TRACKING OFF", "CLIENT TRACKING SIDEWAYS", refusals::kSyntax},
      {"CLIENT TRACKING OFF", "CLIENT CACHING YES", kCachingWithoutOpt},
      {"CLIENT TRACKING ON", "CLIENT CACHING YES", kCachingYes},
      {"CLIENT TRACKING ON", "CLIENT TRACKING ON BCAST", kBcastSwitch},
      {"CLIENT TRACKING ON OPTIN", "CLIENT TRACKING ON OPTOUT", kOptSwitch},
      {"CLIENT TRACKING ON OPTOUT", "CLIENT CACHING YES", kCachingYes},
      {"CLIENT TRACKING ON BCAST PREFIX ab", "CLIENT TRACKING ON BCAST PREFIX abc",
       "ERR Prefix 'abc' overlaps with an existing prefix 'ab'. Prefixes for a single client must not overlap."},
      {"CLIENT TRACKING ON BCAST PREFIX ab", "CLIENT TRACKING ON BCAST PREFIX x PREFIX x",
       "ERR Prefix 'x' overlaps with another provided prefix 'x'. Prefixes for a single client must not overlap."},
  };
  for (const RefusedOption& c : cases) {
    reader_.Run("CLIENT TRACKING OFF");
    reader_.Run(c.before);
    EXPECT_THAT(reader_.Run(c.line), Error(c.text)) << c.line;
  }
}

}  // namespace
}  // namespace respite
