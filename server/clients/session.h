// Session: the server's state of one client, regardless of its transport.
//
// A Transport (a socket, or nothing in a test) moves bytes; Pump turns the input into requests; Executor runs them and
// writes to `out`. Clients owns every Session.
//
// A component that keeps state per client has its own member struct in Session. The component defines the struct; where
// possible only it can change the members. Members that few clients need are pointers, null until needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/reply.h"
#include "protocol/reply_buffer.h"
#include "protocol/request_parser.h"
#include "server/clients/client_state.h"
#include "server/clients/replica.h"
#include "server/clients/waiting_requests.h"

namespace respite {

class User;

// Carries a session's bytes.
class Transport {
 public:
  virtual ~Transport() = default;
  // Sends output of the session's `out` until the peer accepts no more, but only about `most_bytes`. Continues by
  // itself in later Turns.
  virtual void Flush(size_t most_bytes) = 0;
  // Runs the pump again without new input (the session was paused, or had used up its share of the Turn).
  virtual void Resume() = 0;
  // Stops immediately; the session is freed soon after.
  virtual void Close() = 0;
  virtual int FileDescriptor() const = 0;
  // Returns whether output waits until the peer accepts more.
  virtual bool AwaitsRoom() const { return false; }
  // Returns whether the peer has exceeded the time for its TLS handshake.
  virtual bool IsHandshakeLate() const { return false; }
};

// kPrimary: the replication stream from this server's primary.
enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub, kPrimary };

// The queues of Clients that contain this session, so that removal searches only those.
class QueueFlags {
 private:
  friend class Clients;

  bool to_flush_ = false;   // has replies or messages to send at the end of the Turn
  bool paused_ = false;     // its request is paused by CLIENT PAUSE
  bool unblocked_ = false;  // its wait has ended
};

struct Session {
  Session(uint64_t session_id, BlockPool& pool, const User& initial_user, int64_t now_ms)
      : id(session_id), out(pool), user(&initial_user), usage(now_ms), output_account(now_ms) {}

  uint64_t id;
  RequestParser in;
  ReplyBuffer out;
  RespVersion resp = RespVersion::kResp2;
  ReplyForm reply_form = ReplyForm::kWire;
  SessionKind kind = SessionKind::kNormal;
  bool authenticated = true;
  int db = 0;
  const User* user;                // never null
  Transport* transport = nullptr;  // null for a session without a connection

  bool closing = false;            // closed; no further input, execution or output
  bool close_after_reply = false;  // closes when `out` has been sent
  bool monitor = false;            // MONITOR
  bool no_evict = false;           // CLIENT NO-EVICT
  bool no_touch = false;           // CLIENT NO-TOUCH
  bool import_source = false;      // CLIENT IMPORT-SOURCE: under import-mode it sees expired keys
  ReplyState replies;              // CLIENT REPLY
  ClientClusterState cluster_marks;
  QueueFlags queue_marks;  // of Clients

  ClientIdentity identity;
  ClientAddresses addresses;
  ClientUsage usage;
  OutputAccount output_account;      // of ClientLimits
  MemoryPlace memory_place;          // of ClientMemory
  size_t unauthenticated_bytes = 0;  // its share of Clients::UnauthenticatedBytes
  int64_t history_offset = 0;        // replication offset after its last command (WAIT)
  uint64_t journaled_bytes = 0;      // AofWriter::Appended after its last write
  size_t unapplied_bytes = 0;        // kPrimary: input after the last applied request, see Pump

  // For the running command: pushes to its own client, which are sent after its reply, and the arguments that SLOWLOG
  // and MONITOR must not show (Call::Redact).
  std::string deferred_pushes;
  std::vector<size_t> redacted_words;

  Session* caller = nullptr;  // for a script's session: the client that runs the script

  // Null for most clients.
  std::unique_ptr<Subscriptions> subscriptions;   // channels and patterns
  std::unique_ptr<PausedRequest> paused_request;  // runs first when the session resumes
  std::unique_ptr<BlockedClient> blocked_client;  // waits for a key (BlockedClients); no other request runs
  std::unique_ptr<Transaction> transaction;       // exists from the first MULTI or WATCH
  std::unique_ptr<TrackingOptions> tracking;      // CLIENT TRACKING; null while it is off
  std::unique_ptr<Replica> replica;               // exists from the first REPLCONF or PSYNC
  std::unique_ptr<ClientFaultState> fault_state;  // see ClientFaults

  // Returns whether this session runs the commands of a script.
  bool IsScript() const { return reply_form == ReplyForm::kBinary; }
  // Returns the client that runs the script, or this session if it is not a script's.
  Session& Caller() { return caller == nullptr ? *this : *caller; }
  bool IsBlocked() const {
    return blocked_client != nullptr ||
           (paused_request != nullptr && paused_request->progress.stage == Progress::Stage::kAgain) || IsDelayed();
  }
  // Returns whether ClientFaults delays its request.
  bool IsDelayed() const { return fault_state != nullptr && fault_state->has_delayed; }
  bool InTransaction() const { return transaction != nullptr && transaction->Open(); }
  Transaction& EnsureTransaction() {
    if (transaction == nullptr) transaction = std::make_unique<Transaction>();
    return *transaction;
  }

  // Returns how many bytes of `out` may be sent now.
  size_t Sendable() const { return fault_state == nullptr ? out.Size() : fault_state->gate.Sendable(out.Size()); }
  // Notes that `bytes` bytes of `out` were sent.
  void NoteSent(size_t bytes) {
    out.Consume(bytes);
    if (fault_state != nullptr) fault_state->gate.NoteSent(bytes);
  }
  // Returns whether no more output will be sent, because `out` is empty or an end was reached (OutputGate::AddEnd).
  bool HasSentAll() const { return out.Empty() || (fault_state != nullptr && fault_state->gate.HasReachedEnd()); }

  // Output up to one block is not counted, like Redis' static buffer. "omem" is the output above it.
  static constexpr size_t kFreeOutputBytes = BlockPool::kBlockBytes;
  size_t OutputBytes() const;

  // Returns the memory held for this client: its session, input, output, paused request, queued commands, watched keys,
  // subscriptions and tracking prefixes. Cost: O(1), and O(arguments) while a request is paused.
  size_t HeldBytes() const;
};

inline size_t Session::OutputBytes() const {
  size_t held = out.HeldBytes();
  if (replica != nullptr) held += replica->waiting_bytes;
  return held > kFreeOutputBytes ? held - kFreeOutputBytes : 0;
}

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
                 HeldBytesOf(identity.name) + HeldBytesOf(identity.lib_name) + HeldBytesOf(identity.lib_version) +
                 HeldBytesOf(addresses.peer) + HeldBytesOf(addresses.local);
  if (paused_request != nullptr) bytes += sizeof(PausedRequest) + HeldBytesOf(paused_request->words);
  if (subscriptions != nullptr) bytes += subscriptions->UsedBytes();
  if (transaction != nullptr) bytes += transaction->HeldBytes();
  if (tracking != nullptr) bytes += tracking->HeldBytes();
  if (fault_state != nullptr) bytes += fault_state->HeldBytes();
  if (blocked_client != nullptr)
    bytes += sizeof(BlockedClient) + HeldBytesOf(blocked_client->words) + blocked_client->HeldPlaceBytes();
  return bytes;
}

// Returns whether the session has subscriptions and uses RESP2. It may then run only a few commands.
inline bool InSubscribedMode(const Session& session) {
  return session.subscriptions != nullptr && session.resp == RespVersion::kResp2;
}

// Ends all subscriptions without notifying the client.
inline void LeaveAllTopics(Session& session) {
  session.subscriptions.reset();
  if (session.kind == SessionKind::kPubSub) session.kind = SessionKind::kNormal;
}

}  // namespace respite
