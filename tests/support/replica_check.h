// Checks that the commands that a server propagates to replicas give the same data on another server.
#pragma once

#include <string>

#include "server/dataset/journal.h"
#include "tests/support/test_server.h"

namespace respite {

// Records the stream that replicas of the server would get. Unlike a replica, it does not change what the server
// reports about itself.
class StreamRecorder final : public Journal {
 public:
  explicit StreamRecorder(TestServer& server) : server_(server) {
    server_->services().data.dataset.journals.Attach(*this);
  }
  ~StreamRecorder() override { Stop(); }
  StreamRecorder(const StreamRecorder&) = delete;
  StreamRecorder& operator=(const StreamRecorder&) = delete;

  void Append(const PropagatedGroup& group) override;
  const std::string& Text() const { return text_; }
  // Stops recording and frees the memory.
  void Stop() {
    server_->services().data.dataset.journals.Detach(*this);
    text_ = {};
  }

 private:
  TestServer& server_;
  int selected_db_ = -1;
  std::string text_;
};

// Runs the stream as a primary's on a server with a later time, which must ignore that deadlines have passed.
void ExpectReplicaMatches(TestServer& server, const StreamRecorder& stream);

}  // namespace respite
