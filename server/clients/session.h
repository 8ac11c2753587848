// Session: what the server knows of one client, whatever carries its bytes.
//
// A Transport (a socket, or nothing in a test) moves bytes; Pump turns the input into requests; Executor runs them and
// writes to `out`. Clients owns every Session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/reply.h"
#include "protocol/reply_buffer.h"
#include "protocol/request_parser.h"
#include "server/clients/held_request.h"
#include "server/clients/subscriptions.h"
#include "server/clients/tracking_options.h"
#include "server/clients/transaction.h"
#include "server/clients/waiter.h"

namespace respite {

struct Command;
class User;

// What carries a session's bytes.
class Transport {
 public:
  virtual ~Transport() = default;
  // Sends what waits in the session's `out`, as far as the peer takes it; goes on by itself when it takes more.
  virtual void Flush() = 0;
  // Runs the pump again although no new bytes arrived (the session was postponed, or had more than its share).
  virtual void Resume() = 0;
  // Stops at once; the session is freed soon after.
  virtual void Close() = 0;
  virtual int FileDescriptor() const = 0;
  // Output waits for the peer to take it.
  virtual bool AwaitsRoom() const { return false; }
  // Nothing was received yet, since both sides are still agreeing on how (TLS).
  virtual bool InHandshake() const { return false; }
};

enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub };

// Whether and which replies are sent (CLIENT REPLY).
enum class ReplyMode : uint8_t {
  kOn,
  kOff,
  kSkipNext,  // the running command was CLIENT REPLY SKIP: the next is silent
  kSkip,      // this command is silent
};

struct Session {
  Session(uint64_t session_id, BlockPool& pool, const User& stranger) : id(session_id), out(pool), user(&stranger) {}

  uint64_t id;
  RequestParser in;
  ReplyBuffer out;
  RespVersion resp = RespVersion::kResp2;
  ReplyForm reply_form = ReplyForm::kWire;
  int db = 0;
  Transport* transport = nullptr;  // null in process

  // Identity.
  bool authenticated = true;
  const User* user;  // never null
  std::string name;
  std::string lib_name;
  std::string lib_version;
  std::string address;  // "127.0.0.1:50000", "/path/to.sock:0"
  std::string local_address;
  bool unix_socket = false;
  bool loopback = true;

  // State.
  bool monitor = false;
  bool no_evict = false;
  bool no_touch = false;
  bool closing = false;            // gone; nothing more is read, executed or sent
  bool close_after_reply = false;  // gone as soon as `out` is sent
  bool flush_queued = false;       // stands in Clients' list of sessions to flush
  ReplyMode reply_mode = ReplyMode::kOn;
  SessionKind kind = SessionKind::kNormal;

  // Channels and patterns; null while there are none.
  std::unique_ptr<Subscriptions> subscriptions;

  // A request that runs first when the session resumes. Null when there is none.
  std::unique_ptr<HeldRequest> held;
  // A request that waits for a key; see Waiting. Null when none does. Nothing else runs meanwhile.
  std::unique_ptr<Waiter> waiter;
  // Null before the first MULTI or WATCH.
  std::unique_ptr<Transaction> transaction;
  // CLIENT TRACKING; null while it is off.
  std::unique_ptr<TrackingOptions> tracking;
  // Messages that the running command caused for its own client: they go behind its reply.
  std::string deferred_pushes;
  // Words of the running command that SLOWLOG and MONITOR must not show; see Call::Redact.
  std::vector<size_t> redacted_words;
  bool postponed_listed = false;  // stands in Clients' list of postponed sessions
  bool continue_listed = false;   // stands in Clients' list of those that go on

  // Accounting, in milliseconds of the monotonic clock.
  int64_t created_ms = 0;
  int64_t last_active_ms = 0;
  int64_t soft_limit_since_ms = -1;  // output over the soft limit since; -1: it is not
  const Command* last_command = nullptr;
  uint64_t commands = 0;
  uint64_t journaled_octets = 0;  // AofWriter::Appended behind its last write
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  size_t input_peak_bytes = 0;  // most input that was buffered since the timer last looked
  // Redis: a client has a reply buffer of its own, which follows its replies. Ours take blocks from the pool while they
  // have output; these two say how large that buffer would be.
  size_t reply_room_bytes = BlockPool::kBlockBytes;
  size_t output_peak_bytes = BlockPool::kBlockBytes;  // most of it that was used since output_peak_since_ms
  int64_t output_peak_since_ms = 0;
  // ClientMemory's: what it counts for this session, and where it keeps it (-1: nowhere).
  size_t counted_bytes = 0;
  uint32_t place_in_class = 0;
  int16_t size_class = -1;

  // Stands for a script instead of a client.
  bool IsScript() const { return reply_form == ReplyForm::kBinary; }
  // What is written now is not sent.
  bool IsSilent() const { return reply_mode == ReplyMode::kOff || reply_mode == ReplyMode::kSkip; }
  bool IsBlocked() const {
    return waiter != nullptr || (held != nullptr && held->progress.stage == Progress::Stage::kAgain);
  }
  bool InTransaction() const { return transaction != nullptr && transaction->Open(); }
  Transaction& EnsureTransaction() {
    if (transaction == nullptr) transaction = std::make_unique<Transaction>();
    return *transaction;
  }

  // Memory held for this client: itself, its input and output, its request that waits, what it queued, watches,
  // subscribed to and tracks. Cost: O(1), and O(words) while a request waits.
  size_t HeldBytes() const;
};

inline size_t HeldBytesOf(const std::string& text) {
  static const size_t kInPlace = std::string().capacity();
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}
inline size_t HeldBytesOf(const std::vector<std::string>& words) {
  size_t bytes = words.capacity() * sizeof(std::string);
  for (const std::string& word : words) bytes += HeldBytesOf(word);
  return bytes;
}

inline size_t Session::HeldBytes() const {
  size_t bytes = sizeof(Session) + in.HeldBytes() + out.HeldBytes() + out.QueueBytes() + HeldBytesOf(deferred_pushes) +
                 HeldBytesOf(name) + HeldBytesOf(lib_name) + HeldBytesOf(lib_version) + HeldBytesOf(address) +
                 HeldBytesOf(local_address);
  if (held != nullptr) bytes += sizeof(HeldRequest) + HeldBytesOf(held->words);
  if (subscriptions != nullptr) bytes += subscriptions->UsedBytes();
  if (transaction != nullptr) bytes += transaction->HeldBytes();
  if (tracking != nullptr) bytes += tracking->HeldBytes();
  if (waiter != nullptr) bytes += sizeof(Waiter) + HeldBytesOf(waiter->words) + waiter->HeldPlaceBytes();
  return bytes;
}

// A session that subscribed to something and speaks RESP2: it may do little else.
inline bool InSubscribedMode(const Session& session) {
  return session.subscriptions != nullptr && session.resp == RespVersion::kResp2;
}

// Ends all subscriptions, without a word to the client.
inline void LeaveAllTopics(Session& session) {
  session.subscriptions.reset();
  if (session.kind == SessionKind::kPubSub) session.kind = SessionKind::kNormal;
}

}  // namespace respite
