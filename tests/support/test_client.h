// TestClient: a client of a TestServer. What a Connection does with a socket, it does with strings.
#pragma once

#include <deque>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "protocol/reply_tree.h"
#include "server/clients/session.h"
#include "tests/support/test_server.h"

namespace respite {

// A reply and the version it was written in, which decides what a matcher accepts.
struct TestReply {
  std::optional<ReplyTree> tree;  // nothing: no reply came
  RespVersion resp = RespVersion::kResp2;

  bool HasValue() const { return tree.has_value(); }
  // The texts of an array or set of bulk strings; a failed expectation if it is something else.
  std::vector<std::string> Texts() const;
  std::string Text() const;                  // of a bulk, verbatim, simple or error
  int64_t Integer() const;                   // of an integer
  TestReply operator[](size_t index) const;  // child of an aggregate
  size_t Size() const { return tree ? tree->children.size() : 0; }
};
std::ostream& operator<<(std::ostream& out, const TestReply& reply);

class TestClient final : public Transport {
 public:
  explicit TestClient(TestServer& server, RespVersion resp = RespVersion::kResp2);
  ~TestClient() override;
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  // Sends one command and ends the Turn. The first reply that came for it; pushes (RESP3) come first only when there
  // is nothing else. No reply: the client is blocked, closed, or replies are off; Read has it when it comes.
  TestReply Run(Bytes line);  // words as in redis.conf: `SET "a b" \x00`
  TestReply Run(std::initializer_list<Bytes> words);
  TestReply Run(const std::vector<std::string>& words);
  // The next reply that came without having been returned.
  TestReply Read();
  // Sends bytes as they are; returns the bytes that came back.
  std::string Raw(Bytes bytes);
  // Sends a command, reads nothing.
  void Send(Bytes line);
  // Bytes arrive without being executed (the Turn of this client comes with the next Send, Run or Raw).
  void Deliver(Bytes bytes);

  // Whether the peer takes what is sent (it does unless told otherwise).
  enum class Reading : uint8_t { kYes, kNo };
  void SetReading(Reading reading);

  bool Closed() const { return session_ == nullptr; }
  Session& session() { return *session_; }
  RespVersion resp() const { return session_ != nullptr ? session_->resp : last_resp_; }

  // Transport.
  void Flush() override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override { return -1; }

 private:
  void RunPump();
  std::string TakeReceived();
  void Collect();

  TestServer& server_;
  Session* session_;
  RespVersion last_resp_ = RespVersion::kResp2;
  Reading reading_ = Reading::kYes;
  bool pump_waits_ = false;  // for a Resume: postponed, or had its share
  std::string received_;     // bytes not yet made into replies
  ReplyTreeParser parser_;
  std::deque<ReplyTree> replies_;
};

// The words as a RESP request.
std::string EncodeRequest(const std::vector<std::string>& words);

}  // namespace respite
