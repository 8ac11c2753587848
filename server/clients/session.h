// Session: what the server knows of one client, whatever carries its bytes.
//
// A Transport (a socket, or nothing in a test) moves bytes; Pump turns the input into requests; Executor runs them and
// writes to `out`. Clients owns every Session.
//
// Whoever keeps something of its own for each client has a part of the Session: a small struct that the owner defines,
// and that nobody else can change where that is possible. A part that few clients have is a pointer, null until needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/reply.h"
#include "protocol/reply_buffer.h"
#include "protocol/request_parser.h"
#include "server/clients/blocked_client.h"
#include "server/clients/client_cluster_state.h"
#include "server/clients/client_fault_state.h"
#include "server/clients/client_identity.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_usage.h"
#include "server/clients/paused_request.h"
#include "server/clients/queue_flags.h"
#include "server/clients/replica.h"
#include "server/clients/reply_state.h"
#include "server/clients/subscriptions.h"
#include "server/clients/tracking_options.h"
#include "server/clients/transaction.h"

namespace respite {

struct Command;
class User;

// What carries a session's bytes.
class Transport {
 public:
  virtual ~Transport() = default;
  // Sends what waits in the session's `out`, as far as the peer takes it, but about `most_bytes`; goes on by itself in
  // later Turns.
  virtual void Flush(size_t most_bytes) = 0;
  // Runs the pump again although no new bytes arrived (the session was postponed, or had more than its share).
  virtual void Resume() = 0;
  // Stops at once; the session is freed soon after.
  virtual void Close() = 0;
  virtual int FileDescriptor() const = 0;
  // Output waits for the peer to take it.
  virtual bool AwaitsRoom() const { return false; }
  // The peer has not finished its TLS handshake in the time that it had for it.
  virtual bool IsHandshakeLate() const { return false; }
};

// kPrimary: the stream of the primary, whose replica this server is.
enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub, kPrimary };

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
  Transport* transport = nullptr;  // null in process

  bool closing = false;            // gone; nothing more is read, executed or sent
  bool close_after_reply = false;  // gone as soon as `out` is sent
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
  size_t unauthenticated_bytes = 0;  // its part of Clients::UnauthenticatedBytes
  int64_t history_offset = 0;        // the end of the history behind its last command (WAIT)
  uint64_t journaled_bytes = 0;      // AofWriter::Appended behind its last write
  size_t unapplied_bytes = 0;        // kPrimary: input behind the last request that counts as done, see Pump

  // The running command: messages that it caused for its own client, which go behind its reply, and those of its words
  // that SLOWLOG and MONITOR must not show (Call::Redact).
  std::string deferred_pushes;
  std::vector<size_t> redacted_words;

  Session* caller = nullptr;  // while it stands for a script that runs: whose it is

  // Parts that few have.
  std::unique_ptr<Subscriptions> subscriptions;   // channels and patterns
  std::unique_ptr<PausedRequest> paused_request;  // runs first when the session resumes
  std::unique_ptr<BlockedClient> blocked_client;  // waits for a key, see BlockedClients; nothing else runs meanwhile
  std::unique_ptr<Transaction> transaction;       // from the first MULTI or WATCH on
  std::unique_ptr<TrackingOptions> tracking;      // CLIENT TRACKING; null while it is off
  std::unique_ptr<Replica> replica;               // from the first REPLCONF or PSYNC on
  std::unique_ptr<ClientFaultState> fault_state;  // see ClientFaults

  // Stands for a script instead of a client.
  bool IsScript() const { return reply_form == ReplyForm::kBinary; }
  // The client whose script it stands for, or else itself.
  Session& Caller() { return caller == nullptr ? *this : *caller; }
  bool IsBlocked() const {
    return blocked_client != nullptr ||
           (paused_request != nullptr && paused_request->progress.stage == Progress::Stage::kAgain) || IsDelayed();
  }
  // Its request waits for a time of ClientFaults.
  bool IsDelayed() const { return fault_state != nullptr && fault_state->has_delayed; }
  bool InTransaction() const { return transaction != nullptr && transaction->Open(); }
  Transaction& EnsureTransaction() {
    if (transaction == nullptr) transaction = std::make_unique<Transaction>();
    return *transaction;
  }

  // How much of `out` may be sent now.
  size_t Sendable() const { return fault_state == nullptr ? out.Size() : fault_state->gate.Sendable(out.Size()); }
  // So much of `out` was sent.
  void NoteSent(size_t bytes) {
    out.Consume(bytes);
    if (fault_state != nullptr) fault_state->gate.NoteSent(bytes);
  }
  // Nothing waits to be sent, or nothing else will be: see OutputGate::AddEnd.
  bool HasSentAll() const { return out.Empty() || (fault_state != nullptr && fault_state->gate.HasReachedEnd()); }

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
