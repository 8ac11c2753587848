#include "tests/support/test_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/str_cat.h"
#include "protocol/request_text.h"

namespace respite {

std::vector<std::string> TestReply::Texts() const {
  std::vector<std::string> texts;
  EXPECT_TRUE(tree && (tree->kind == ReplyKind::kArray || tree->kind == ReplyKind::kSet)) << *this;
  if (!tree) return texts;
  for (const ReplyTree& child : tree->children) texts.push_back(child.text);
  return texts;
}

std::string TestReply::Text() const {
  EXPECT_TRUE(tree.has_value()) << "no reply";
  return tree ? tree->text : "";
}

int64_t TestReply::Integer() const {
  EXPECT_TRUE(tree && tree->kind == ReplyKind::kInteger) << *this;
  return tree ? tree->integer : 0;
}

TestReply TestReply::operator[](size_t index) const {
  EXPECT_LT(index, Size()) << *this;
  return index < Size() ? TestReply{tree->children[index], resp} : TestReply{std::nullopt, resp};
}

std::ostream& operator<<(std::ostream& out, const TestReply& reply) {
  return out << (reply.tree ? reply.tree->ReadableText() : "(no reply)");
}

std::string EncodeRequest(const std::vector<std::string>& words) {
  std::string out;
  AppendRequest(out, words);
  return out;
}

TestClient::TestClient(TestServer& server, RespVersion resp)
    : server_(server), session_(&server->services().clients.registry.Create(server.clock().MonotonicMs())) {
  session_->transport = this;
  session_->resp = resp;
  session_->addresses.peer = StrCat("127.0.0.1:", 50000 + session_->id);
  session_->addresses.local = "127.0.0.1:6379";
  session_->authenticated = !server->services().clients.users.IsLoginRequired();
  ++server->services().env.stats.connections;
}

TestClient::~TestClient() {
  if (session_ == nullptr) return;
  server_->services().clients.registry.Close(*session_);
  server_.EndTurn();
}

TestReply TestClient::Run(Bytes line) {
  auto words = SplitQuoted(line);
  EXPECT_TRUE(words.has_value()) << "unbalanced quotes: " << line;
  return Run(words.value_or(std::vector<std::string>{}));
}

TestReply TestClient::Run(std::initializer_list<Bytes> words) {
  return Run(std::vector<std::string>(words.begin(), words.end()));
}

TestReply TestClient::Run(const std::vector<std::string>& words) {
  Collect();
  size_t before = replies_.size();
  Deliver(EncodeRequest(words));
  RunPump();
  server_.EndTurn();
  Collect();
  auto first = replies_.begin() + static_cast<std::ptrdiff_t>(before);
  auto answer = std::find_if(first, replies_.end(), [](const ReplyTree& r) { return r.kind != ReplyKind::kPush; });
  if (answer == replies_.end()) answer = first;
  if (answer == replies_.end()) return {std::nullopt, resp()};
  TestReply reply{std::move(*answer), resp()};
  replies_.erase(answer);
  return reply;
}

TestReply TestClient::Read() {
  Collect();
  if (replies_.empty()) return {std::nullopt, resp()};
  TestReply reply{std::move(replies_.front()), resp()};
  replies_.pop_front();
  return reply;
}

std::string TestClient::Raw(Bytes bytes) {
  Deliver(bytes);
  RunPump();
  server_.EndTurn();
  return std::exchange(received_, {});
}

void TestClient::Send(Bytes line) {
  Begin(line);
  server_.EndTurn();
}

void TestClient::Begin(Bytes line) {
  Deliver(EncodeRequest(SplitQuoted(line).value()));
  RunPump();
}

void TestClient::Deliver(Bytes bytes) {
  // Reads small pieces, as from a socket; the parser decides where they go.
  std::vector<char> scratch(64 * 1024);
  while (session_ != nullptr && !bytes.empty()) {
    std::span<char> target = session_->in.ReadTarget(scratch);
    size_t n = std::min(target.size(), bytes.size());
    std::copy_n(bytes.begin(), n, target.begin());
    bytes.remove_prefix(n);
    session_->in.Received(n);
    session_->usage.NoteInput(n, server_.clock().MonotonicMs());
    server_->services().env.stats.net_input_bytes += n;
    ++server_->services().env.stats.total_reads;
    if (bytes.empty()) {
      session_->in.SaveRest();
    } else {
      RunPump();
    }
  }
}

void TestClient::RunPump() {
  if (session_ == nullptr || session_->closing) return;
  switch (server_.pump().Run(*session_)) {
    case Pump::Outcome::kIdle:
      server_->services().clients.limits.EnforceInputLimit(*session_);
      break;
    case Pump::Outcome::kMore:
      server_.Post([this] { Resume(); });
      break;
    case Pump::Outcome::kPaused:
    case Pump::Outcome::kClosing:
      break;
  }
}

void TestClient::Resume() { RunPump(); }

void TestClient::SetReading(Reading reading) {
  reading_ = reading;
  if (reading_ == Reading::kYes && session_ != nullptr) Flush(SIZE_MAX);
}

void TestClient::Flush(size_t /*most_bytes*/) {
  if (reading_ == Reading::kYes) {
    const std::string text = session_->out.Text().substr(0, session_->SendableBytes());
    session_->NoteSent(text.size());
    session_->usage.bytes_out += text.size();
    server_->services().env.stats.net_output_bytes += text.size();
    ++server_->services().env.stats.total_writes;
    received_ += text;
    last_resp_ = session_->resp;
    if (session_->close_after_reply && session_->HasSentAll()) server_->services().clients.registry.Close(*session_);
  } else {
    server_->services().clients.limits.EnforceOutputLimit(*session_, server_.clock().MonotonicMs(),
                                                          ClientLimits::Moment::kReply);
  }
}

void TestClient::Close() {
  last_resp_ = session_->resp;
  Session* gone = std::exchange(session_, nullptr);
  server_.Post([&server = *server_, gone] { server.services().clients.registry.Remove(*gone); });
}

void TestClient::Collect() {
  parser_.Feed(std::exchange(received_, {}));
  while (auto reply = parser_.Next()) replies_.push_back(std::move(*reply));
  EXPECT_FALSE(parser_.Failed()) << "The server sent malformed RESP: " << parser_.Error();
}

}  // namespace respite
