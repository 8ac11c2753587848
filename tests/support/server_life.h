// ServerLife: one start of a server on files that the test owns. It loads the data that former starts left.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/data_set.h"
#include "tests/support/faulty_files.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {

class ServerLife {
 public:
  ServerLife(FaultyFiles& files, std::vector<std::string> directives, int64_t wall_ms = TestServer::Options().wall_ms,
             uint64_t seed = TestServer::Options().seed)
      : server_(TestServer::Options{.directives = std::move(directives),
                                    .seed = seed,
                                    .wall_ms = wall_ms,
                                    .files = &files,
                                    .log_file = log_.path()}),
        client_(server_) {
    EXPECT_EQ(server_->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
    outcome_ = LoadDataAtStartup(server_->services());
  }

  LoadOutcome outcome() const { return outcome_; }
  TestServer& server() { return server_; }
  TestClient& client() { return client_; }
  TestReply Run(Bytes line) { return client_.Run(line); }
  Snapshot Data() { return SnapshotOf(*server_); }
  // The whole log.
  std::string Log() const { return log_.Text(); }

 private:
  // A log file that is removed with its owner.
  class LogFile {
   public:
    LogFile() : path_(testing::TempDir() + "respite-log-XXXXXX") { close(mkstemp(path_.data())); }
    ~LogFile() { unlink(path_.c_str()); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    const std::string& path() const { return path_; }
    std::string Text() const {
      std::ifstream file(path_, std::ios::binary);
      return {std::istreambuf_iterator<char>(file), {}};
    }

   private:
    std::string path_;
  };

  LogFile log_;
  TestServer server_;
  TestClient client_;
  LoadOutcome outcome_;
};

}  // namespace respite
