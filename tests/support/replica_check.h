// Checks that the effects of a server, as replicas get them, give the same data on another server.
#pragma once

#include <string>

#include "server/dataset/journal.h"
#include "tests/support/test_server.h"

namespace respite {

// Keeps the stream that replicas of the server would get. It does not change what the server says of itself, as a
// replica would.
class StreamRecorder final : public Journal {
 public:
  explicit StreamRecorder(TestServer& server) : server_(server) { server_->data().journals.Attach(*this); }
  ~StreamRecorder() override { Stop(); }
  StreamRecorder(const StreamRecorder&) = delete;
  StreamRecorder& operator=(const StreamRecorder&) = delete;

  void Append(const UnitEffects& effects) override;
  const std::string& Text() const { return text_; }
  // Keeps nothing any more, and gives its memory back.
  void Stop() {
    server_->data().journals.Detach(*this);
    text_ = {};
  }

 private:
  TestServer& server_;
  int selected_db_ = -1;
  std::string text_;
};

// Runs the stream as that of a primary on a server of a later time, which must not mind what has expired meanwhile.
void ExpectReplicaMatches(TestServer& server, const StreamRecorder& stream);

}  // namespace respite
