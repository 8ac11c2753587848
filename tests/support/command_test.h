// CommandTest: the fixture of command tests. Each test runs under RESP2 and RESP3. When it ends, the fixture checks
// that these have the same data: a server that replays the journal of the writes, a replica, a server that runs the
// commands of a rewrite, and a server that loads a snapshot. Each value must also survive DUMP and RESTORE.
//
//   class StringCommands : public CommandTest {};
//   INSTANTIATE_TEST_SUITE_P(Resp, StringCommands, BothVersions(), VersionName);
//   TEST_P(StringCommands, SetThenGet) {
//     EXPECT_THAT(Run("SET k v"), Ok());
//     EXPECT_THAT(Run("GET k"), Bulk("v"));
//   }
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/replica_check.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/rewrite_check.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {

inline constexpr char kWrongType[] = "WRONGTYPE Operation against a key holding the wrong kind of value";
// A time to which tests set the clock.
inline constexpr int64_t kStartMs = 1'700'000'000'000;

class CommandTest : public testing::TestWithParam<RespVersion> {
 protected:
  // `directives` are lines of redis.conf.
  explicit CommandTest(std::vector<std::string> directives = {})
      : server_(TestServer::Options{.directives = std::move(directives)}),
        stream_(server_),
        client_(server_, GetParam()) {}

  void TearDown() override {
    ExpectDumpsMatch(server_);
    ExpectSnapshotMatches(server_);
    if (replay_check_ && client_replay_check_) ExpectReplayMatches(server_);
    if (replay_check_) ExpectReplicaMatches(server_, stream_);
    ExpectRewriteMatches(server_);
  }

  TestReply Run(Bytes line) { return client_.Run(line); }
  TestReply Run(std::initializer_list<Bytes> words) { return client_.Run(words); }
  TestReply Run(const std::vector<std::string>& words) { return client_.Run(words); }
  TestServer& server() { return server_; }
  ManualClock& clock() { return server_.clock(); }
  TestClient& client() { return client_; }
  bool IsResp3() const { return GetParam() == RespVersion::kResp3; }
  int64_t now_ms() { return clock().WallMs(); }
  // The propagated commands so far, one line each.
  std::vector<std::string> Journaled() { return server_.journal().Lines(); }
  // Disables the replay for a test whose effects a journal cannot repeat; `why` says the reason.
  void SkipReplayCheck(const char* /*why*/) {
    replay_check_ = false;
    stream_.Stop();
  }

  // Disables only the replay by an ordinary client, for a test that propagates what only a primary or a file may send.
  void SkipClientReplay(const char* /*why*/) { client_replay_check_ = false; }

 private:
  TestServer server_;
  StreamRecorder stream_;
  TestClient client_;
  bool replay_check_ = true;
  bool client_replay_check_ = true;
};

inline auto BothVersions() { return testing::Values(RespVersion::kResp2, RespVersion::kResp3); }
inline std::string VersionName(const testing::TestParamInfo<RespVersion>& version) {
  return version.param == RespVersion::kResp3 ? "Resp3" : "Resp2";
}

}  // namespace respite
