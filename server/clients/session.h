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

class Transport {  // interface to a client's connection, which carries its input and output
 public:
  virtual ~Transport() = default;
  // Sends `out` until about `max_bytes` were sent or the peer accepts no more. The transport sends the rest in later
  // Turns without another call.
  virtual void Flush(size_t max_bytes) = 0;  // sends `out` until the peer accepts no more
  // Continues a session that was paused, or that had used up its share of the Turn.
  virtual void Resume() = 0;                               // runs the pump again without new input
  virtual void Close() = 0;                                // closes immediately; the session is freed soon after
  virtual int FileDescriptor() const = 0;                  // returns the socket, for CLIENT LIST
  virtual bool IsWaitingToWrite() const { return false; }  // output waits until the peer accepts more
  virtual bool IsHandshakeLate() const { return false; }   // the time for the TLS handshake has passed
};

// What uses the session: a client, a replica of this server, or a client with subscriptions. kPrimary: the replication
// stream from this server's primary.
enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub, kPrimary };

class QueueFlags {  // which queues of Clients contain the session
 private:
  friend class Clients;

  bool to_flush_ = false;   // has replies or messages to send at the end of the Turn
  bool paused_ = false;     // its request waits for the end of CLIENT PAUSE
  bool unblocked_ = false;  // its wait has ended
};

struct Session {  // the server's state of one client
  Session(uint64_t session_id, BlockPool& pool, const User& initial_user, int64_t now_ms)
      : id(session_id), out(pool), user(&initial_user), usage(now_ms), output_account(now_ms) {}

  uint64_t id;
  RequestParser in;
  ReplyBuffer out;
  RespVersion resp = RespVersion::kResp2;
  ReplyForm reply_form = ReplyForm::kWire;  // kBinary: replies are for a script
  SessionKind kind = SessionKind::kNormal;
  bool authenticated = true;       // it has logged in, or needs no password
  int db = 0;                      // the selected database
  const User* user;                // never null
  Transport* transport = nullptr;  // null for a session without a connection

  bool closing = false;                // the connection was closed; no further input, execution or output
  bool close_after_reply = false;      // the connection closes when `out` has been sent
  bool monitor = false;                // it is in MONITOR mode
  bool no_evict = false;               // CLIENT NO-EVICT: it is not closed because of maxmemory-clients
  bool no_touch = false;               // CLIENT NO-TOUCH: its reads do not mark keys as used
  bool import_source = false;          // CLIENT IMPORT-SOURCE: under import-mode it sees expired keys
  ReplyState replies;                  // whether CLIENT REPLY suppresses replies
  ClientClusterState cluster_options;  // what ASKING and READONLY have set
  QueueFlags queue_flags;              // which queues of Clients contain it

  ClientIdentity identity;           // name and library
  ClientAddresses addresses;         // addresses of both ends of the connection
  ClientUsage usage;                 // statistics of commands and bytes
  OutputAccount output_account;      // statistics of its output, for ClientLimits
  MemoryPlace memory_place;          // its position in ClientMemory
  size_t unauthenticated_bytes = 0;  // its share of Clients::UnauthenticatedBytes
  int64_t history_offset = 0;        // replication offset after its last command (WAIT)
  uint64_t appended_aof_bytes = 0;   // Durability::AppendedAofBytes after its last write (WAITAOF)
  size_t unapplied_bytes = 0;        // input after the last applied request, for kPrimary; see Pump

  std::string deferred_pushes;             // pushes to this client that are sent after the running command's reply
  std::vector<size_t> redacted_arguments;  // indexes that SLOWLOG and MONITOR must not show

  Session* caller = nullptr;  // if the session is a script's: the client that runs the script

  std::unique_ptr<Subscriptions> subscriptions;   // channels and patterns; null: none
  std::unique_ptr<PausedRequest> paused_request;  // runs first when the session continues
  std::unique_ptr<BlockedClient> blocked_client;  // in BLPOP, WAIT …: no other request runs; null: no
  std::unique_ptr<Transaction> transaction;       // exists from the first MULTI or WATCH
  std::unique_ptr<TrackingOptions> tracking;      // CLIENT TRACKING; null: off
  std::unique_ptr<Replica> replica;               // exists from the first REPLCONF or PSYNC
  std::unique_ptr<ClientFaultState> fault_state;  // what TEST FAULT does to it; null: nothing

  bool IsScript() const { return reply_form == ReplyForm::kBinary; }  // it runs the commands of a script
  Session& Caller() { return caller == nullptr ? *this : *caller; }   // this client, or the one that runs this script
  bool IsBlocked() const {                                            // its next request must wait
    return blocked_client != nullptr ||
           (paused_request != nullptr && paused_request->progress.stage == Progress::Stage::kAgain) || IsDelayed();
  }
  bool IsDelayed() const { return fault_state != nullptr && fault_state->is_request_delayed; }  // by TEST FAULT
  bool InTransaction() const { return transaction != nullptr && transaction->Open(); }  // between MULTI and EXEC
  Transaction& EnsureTransaction() {  // creates the transaction if necessary
    if (transaction == nullptr) transaction = std::make_unique<Transaction>();
    return *transaction;
  }

  size_t SendableBytes() const {  // how many bytes of `out` may be sent now
    return fault_state == nullptr ? out.Size() : fault_state->gate.SendableBytes(out.Size());
  }
  void NoteSent(size_t bytes) {  // removes the first `bytes` of `out`, which were sent
    out.Consume(bytes);
    if (fault_state != nullptr) fault_state->gate.NoteSent(bytes);
  }
  // Returns true if all output was sent, or if the rest must never be sent (OutputGate::AddFinalBarrier).
  bool HasSentAll() const {  // all output was sent, or the rest must never be sent
    return out.IsEmpty() || (fault_state != nullptr && fault_state->gate.HasReachedEnd());
  }

  // Output up to one block is not counted: "omem" of CLIENT LIST is the output above that.
  static constexpr size_t kUncountedOutputBytes = BlockPool::kBlockBytes;  // like Redis' static buffer
  size_t OutputBytes() const;                                              // memory of output, as "omem" in CLIENT LIST

  // Returns the memory of the session, its input, output, waiting request, queued commands, watched keys, subscriptions
  // and tracking prefixes. Cost: O(1), and O(arguments) while a request is paused or blocked.
  size_t HeldBytes() const;  // memory held for this client
};

inline size_t Session::OutputBytes() const {
  size_t held = out.HeldBytes();
  if (replica != nullptr) held += replica->waiting_bytes;
  return held > kUncountedOutputBytes ? held - kUncountedOutputBytes : 0;
}

inline size_t HeldBytesOf(const std::string& text) {  // memory of the text outside the object
  static const size_t kInPlace = std::string().capacity();
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}
inline size_t HeldBytesOf(const std::vector<std::string>& words) {  // memory of the texts outside the object
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

inline bool InSubscribedMode(const Session& session) {  // RESP2 with subscriptions: few commands are allowed
  return session.subscriptions != nullptr && session.resp == RespVersion::kResp2;
}

inline void DropAllSubscriptions(Session& session) {  // ends them without notifying the client
  session.subscriptions.reset();
  if (session.kind == SessionKind::kPubSub) session.kind = SessionKind::kNormal;
}

}  // namespace respite
