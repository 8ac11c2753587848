// TestClient: a client of a TestServer. Uses strings where a Connection uses a socket.
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

// A reply and its protocol version, which decides what a matcher accepts.
struct TestReply {
  std::optional<ReplyTree> tree;  // nullopt: no reply
  RespVersion resp = RespVersion::kResp2;

  bool HasValue() const { return tree.has_value(); }
  // The texts of an array or set of bulk strings; anything else fails the test.
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

  // Sends one command and ends the turn. Returns its first reply; a push (RESP3) only if there is nothing else. The
  // reply is empty if the client is blocked, closed, or its replies are off; Read returns a late reply.
  TestReply Run(Bytes line);  // words as in redis.conf: `SET "a b" \x00`
  TestReply Run(std::initializer_list<Bytes> words);
  TestReply Run(const std::vector<std::string>& words);
  // Returns the next unread reply.
  TestReply Read();
  // Sends raw bytes and returns the bytes of the replies.
  std::string Raw(Bytes bytes);
  // Sends a command and reads nothing.
  void Send(Bytes line);
  // Sends a command but does not end the turn, so other clients can act in it. The next Send, Run or Raw of any client
  // ends it.
  void Begin(Bytes line);
  // Lets bytes arrive without executing them; this happens at the client's next Send, Run or Raw.
  void Deliver(Bytes bytes);

  // Whether the peer reads what is sent; it does by default.
  enum class Reading : uint8_t { kYes, kNo };
  void SetReading(Reading reading);

  bool Closed() const { return session_ == nullptr; }
  Session& session() { return *session_; }
  RespVersion resp() const { return session_ != nullptr ? session_->resp : last_resp_; }

  // Transport.
  void Flush(size_t /*most_bytes*/) override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override { return -1; }
  bool IsWaitingToWrite() const override {
    return reading_ == Reading::kNo && session_ != nullptr && !session_->out.IsEmpty();
  }

 private:
  void RunPump();
  std::string TakeReceived();
  void Collect();

  TestServer& server_;
  Session* session_;
  RespVersion last_resp_ = RespVersion::kResp2;
  Reading reading_ = Reading::kYes;
  bool pump_waits_ = false;  // waits for Resume because it is paused or its share of the turn is used up
  std::string received_;     // bytes not yet parsed
  ReplyTreeParser parser_;
  std::deque<ReplyTree> replies_;
};

// Encodes the words as a RESP request.
std::string EncodeRequest(const std::vector<std::string>& words);

}  // namespace respite
