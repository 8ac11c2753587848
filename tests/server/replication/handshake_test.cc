#include "server/replication/handshake.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using HandshakeVerdict = Handshake::Verdict;
using MayContinue = Handshake::MayContinue;

const std::string kHandshakeId(40, 'a');
const std::string kOtherHandshakeId(40, 'b');
const std::string kHandshakeReplicaId(40, 'c');

class HandshakeTest : public testing::Test {
 protected:
  Handshake& Begin(MayContinue may_continue = MayContinue::kYes) {
    server_->services().data.dataset.history.ReplaceWith(kHandshakeId, 99);
    handshake_.emplace(Handshake::Parts{server_->services().env, server_->services().data.dataset.history,
                                        server_->services().replication.failover(), kHandshakeReplicaId},
                       may_continue);
    return *handshake_;
  }
  Settings& MutableSettings() { return server_->services().env.config.MutableSettings(); }
  void ExpectNext(const std::vector<std::string>& words) { EXPECT_EQ(handshake_->NextRequest(), EncodeRequest(words)); }
  // Runs the handshake up to PSYNC, which is sent.
  Handshake& ToPsync(MayContinue may_continue = MayContinue::kYes) {
    Handshake& handshake = Begin(may_continue);
    while (handshake.NextRequest().find("PSYNC") == std::string::npos) handshake.HandleLine("+OK");
    return handshake;
  }

  TestServer server_;
  std::optional<Handshake> handshake_;
};

TEST_F(HandshakeTest, SaysWhoWeAreStepByStep) {
  MutableSettings().bound_port = 7002;
  Handshake& handshake = Begin();
  ExpectNext({"PING"});
  EXPECT_EQ(handshake.HandleLine("+PONG"), HandshakeVerdict::kNext);
  ExpectNext({"REPLCONF", "listening-port", "7002"});
  EXPECT_EQ(handshake.HandleLine("+OK"), HandshakeVerdict::kNext);
  ExpectNext({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "respite-id:" + kHandshakeReplicaId});
  EXPECT_EQ(handshake.HandleLine("+OK"), HandshakeVerdict::kNext);
  ExpectNext({"REPLCONF", "version", "9.0.0"});
  EXPECT_EQ(handshake.HandleLine("+OK"), HandshakeVerdict::kNext);
  ExpectNext({"PSYNC", kHandshakeId, "100"});
}

TEST_F(HandshakeTest, LogsInAndTellsAnotherAddress) {
  MutableSettings().masterauth = "secret";
  MutableSettings().replica_announce_ip = "10.0.0.1";
  MutableSettings().replica_announce_port = 7777;
  Handshake& handshake = Begin();
  ExpectNext({"PING"});
  EXPECT_EQ(handshake.HandleLine("-NOAUTH Authentication required."), HandshakeVerdict::kNext);
  ExpectNext({"AUTH", "secret"});
  EXPECT_EQ(handshake.HandleLine("+OK"), HandshakeVerdict::kNext);
  ExpectNext({"REPLCONF", "listening-port", "7777"});
  ExpectNext({"REPLCONF", "ip-address", "10.0.0.1"});
}

TEST_F(HandshakeTest, LogsInAsAUser) {
  MutableSettings().masterauth = "secret";
  MutableSettings().masteruser = "repl";
  Handshake& handshake = Begin();
  ExpectNext({"PING"});
  ExpectNext({"AUTH", "repl", "secret"});
  EXPECT_EQ(handshake.HandleLine("-WRONGPASS invalid username-password pair or user is disabled."),
            HandshakeVerdict::kFail);
}

TEST_F(HandshakeTest, TellsThePortOfTlsIfTheLinkIsEncrypted) {
  MutableSettings().bound_port = 7002;
  MutableSettings().tls_port = 8002;
  MutableSettings().tls_replication = true;
  Begin();
  ExpectNext({"PING"});
  ExpectNext({"REPLCONF", "listening-port", "8002"});
}

TEST_F(HandshakeTest, SomeErrorsToPingAreNoObstacle) {
  for (const char* line : {"-NOAUTH x", "-NOPERM x", "-ERR operation not permitted"}) {
    Handshake& handshake = Begin();
    handshake.NextRequest();
    EXPECT_EQ(handshake.HandleLine(line), HandshakeVerdict::kNext) << line;
  }
  for (const char* line : {"-ERR x", "-MISCONF x", "-LOADING x", ":1", "$3", "*", "-"}) {
    Handshake& handshake = Begin();
    handshake.NextRequest();
    EXPECT_EQ(handshake.HandleLine(line), HandshakeVerdict::kFail) << line;
  }
}

TEST_F(HandshakeTest, AnOldPrimaryThatKnowsNoOptionIsNoObstacle) {
  MutableSettings().replica_announce_ip = "10.0.0.1";
  Handshake& handshake = Begin();
  handshake.NextRequest();
  EXPECT_EQ(handshake.HandleLine("+PONG"), HandshakeVerdict::kNext);
  for (int options = 0; options < 4; ++options) {
    EXPECT_NE(handshake.NextRequest().find("REPLCONF"), std::string::npos);
    EXPECT_EQ(handshake.HandleLine("-ERR unknown command"), HandshakeVerdict::kNext);
  }
  ExpectNext({"PSYNC", kHandshakeId, "100"});
}

TEST_F(HandshakeTest, AnEmptyLineIsNoAnswer) {
  Handshake& handshake = Begin();
  handshake.NextRequest();
  EXPECT_EQ(handshake.HandleLine(""), HandshakeVerdict::kWait);
  Handshake& asking = ToPsync();
  EXPECT_EQ(asking.HandleLine(""), HandshakeVerdict::kWait);
  EXPECT_EQ(asking.HandleLine("+CONTINUE"), HandshakeVerdict::kContinue);
}

TEST_F(HandshakeTest, WithoutAHistoryItAsksForEverything) {
  Begin(MayContinue::kNo);
  for (int steps = 0; steps < 4; ++steps) handshake_->NextRequest();
  ExpectNext({"PSYNC", "?", "-1"});
}

TEST_F(HandshakeTest, DoesNotContinueWhatItDoesNotHave) {
  Handshake& handshake = Begin(MayContinue::kNo);
  for (int steps = 0; steps < 5; ++steps) handshake.NextRequest();
  EXPECT_EQ(handshake.HandleLine("+CONTINUE " + kHandshakeId), HandshakeVerdict::kFail);
  EXPECT_NE(handshake.failure().find("a history that this replica does not have"), std::string::npos);
}

TEST_F(HandshakeTest, ContinuesTheSameHistory) {
  for (const std::string& line :
       {std::string("+CONTINUE"), "+CONTINUE " + kHandshakeId, std::string("+CONTINUE junk")}) {
    Handshake& handshake = ToPsync();
    EXPECT_EQ(handshake.HandleLine(line), HandshakeVerdict::kContinue) << line;
    EXPECT_EQ(handshake.id(), "") << line;
  }
}

TEST_F(HandshakeTest, ContinuesUnderANewName) {
  Handshake& handshake = ToPsync();
  EXPECT_EQ(handshake.HandleLine("+CONTINUE " + kOtherHandshakeId), HandshakeVerdict::kContinue);
  EXPECT_EQ(handshake.id(), kOtherHandshakeId);
}

TEST_F(HandshakeTest, TakesTheHistoryOfASnapshot) {
  Handshake& handshake = ToPsync();
  EXPECT_EQ(handshake.HandleLine("+FULLRESYNC " + kOtherHandshakeId + " 12345"), HandshakeVerdict::kSnapshot);
  EXPECT_EQ(handshake.id(), kOtherHandshakeId);
  EXPECT_EQ(handshake.offset(), 12345);
}

// A Respite primary that has crashed begins its next history at a larger offset.
TEST_F(HandshakeTest, ContinuesAtALargerOffset) {
  Handshake& handshake = ToPsync();
  EXPECT_EQ(handshake.HandleLine("+CONTINUE " + kOtherHandshakeId + " 12345"), HandshakeVerdict::kContinue);
  EXPECT_EQ(handshake.id(), kOtherHandshakeId);
  EXPECT_EQ(handshake.offset(), 12345);
}

TEST_F(HandshakeTest, RefusesToContinueAtAWrongOffset) {
  for (const std::string& line :
       {"+CONTINUE " + kOtherHandshakeId + " 98", "+CONTINUE " + kOtherHandshakeId + " -1",
        "+CONTINUE " + kOtherHandshakeId + " x", "+CONTINUE " + kOtherHandshakeId + " ",
        "+CONTINUE " + kOtherHandshakeId + " 1152921504606846977", "+CONTINUE " + kHandshakeId + " 12345"}) {
    Handshake& handshake = ToPsync();
    EXPECT_EQ(handshake.HandleLine(line), HandshakeVerdict::kFail) << line;
  }
}

TEST_F(HandshakeTest, RefusesAHistoryThatIsNone) {
  for (const std::string& line :
       {std::string("+FULLRESYNC"), std::string("+FULLRESYNC "), "+FULLRESYNC " + kOtherHandshakeId,
        "+FULLRESYNC " + kOtherHandshakeId + " ", "+FULLRESYNC " + kOtherHandshakeId + " x",
        "+FULLRESYNC " + kOtherHandshakeId + " -1", "+FULLRESYNC " + kOtherHandshakeId + " 1 x",
        "+FULLRESYNC " + kOtherHandshakeId + " 1 2", "+FULLRESYNC " + kOtherHandshakeId.substr(1) + " 1",
        "+FULLRESYNC " + kOtherHandshakeId + "b 1", "+FULLRESYNC " + kOtherHandshakeId + " 99999999999999999999",
        "+FULLRESYNC " + std::string(40, '\x01') + " 1", std::string("+OK"), std::string("-NOAUTH x"),
        std::string("-LOADING x"), std::string("-NOMASTERLINK x"), std::string("x")}) {
    Handshake& handshake = ToPsync();
    EXPECT_EQ(handshake.HandleLine(line), HandshakeVerdict::kFail) << line;
  }
}

TEST_F(HandshakeTest, APrimaryWithoutPsyncIsAskedTheOldWay) {
  Handshake& handshake = ToPsync();
  EXPECT_EQ(handshake.HandleLine("-ERR unknown command 'PSYNC'"), HandshakeVerdict::kOldSync);
  EXPECT_EQ(handshake.NextRequest(), "SYNC\r\n");
  EXPECT_EQ(handshake.HandleLine("+OK"), HandshakeVerdict::kFail);
}

}  // namespace
}  // namespace respite
