// Session: the server's state of one client, regardless of its transport.
//
// A Transport (a socket, or nothing in a test) moves bytes. Pump turns the input into requests. Executor runs the
// requests and writes replies to `out`. Clients owns the sessions of all clients.
//
// A component that keeps state per client has its own member struct in Session. The component defines the struct, and
// where possible only the component can change its members. Structs that few clients need are pointers, null until
// needed.
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

class Transport {  // an interface to a client's connection, which carries its input and output
 public:
  virtual ~Transport() = default;
  // Sends output of the session (`out`) until about `max_bytes` were sent or the peer accepts no more. The transport
  // sends the rest in later Turns without another call.
  virtual void Flush(size_t max_bytes) = 0;  // sends output until the peer accepts no more
  // Runs further requests of a session that was paused, or that had used up its share of the Turn.
  virtual void Resume() = 0;                               // runs requests that are already in the input
  virtual void Close() = 0;                                // closes immediately; the session is freed soon after
  virtual int FileDescriptor() const = 0;                  // returns the socket, for CLIENT LIST
  virtual bool IsWaitingToWrite() const { return false; }  // true: output waits until the peer accepts more
  virtual bool IsHandshakeLate() const { return false; }   // true: the time for the TLS handshake has passed
};

// What is at the other end of the session. kNormal: a client. kReplica: a replica of this server. kPubSub: a client
// with subscriptions. kPrimary: the primary of this server, which sends the replication stream.
enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub, kPrimary };

class QueueFlags {  // which queues of Clients contain the session
 private:
  friend class Clients;

  bool to_flush_ = false;   // its replies or messages are sent at the end of the Turn
  bool paused_ = false;     // its request waits for the end of CLIENT PAUSE
  bool unblocked_ = false;  // its blocking request has ended
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

  bool closing = false;                // the connection was closed: no further input, commands or output
  bool close_after_reply = false;      // the connection closes as soon as `out` was sent
  bool monitor = false;                // the client has sent MONITOR and gets all commands
  bool no_evict = false;               // CLIENT NO-EVICT: maxmemory-clients does not close this client
  bool no_touch = false;               // CLIENT NO-TOUCH: reads by this client do not update LRU and LFU
  bool import_source = false;          // CLIENT IMPORT-SOURCE: under import-mode this client sees expired keys
  ReplyState replies;                  // whether CLIENT REPLY suppresses replies
  ClientClusterState cluster_options;  // what ASKING and READONLY have set
  QueueFlags queue_flags;              // which queues of Clients contain this session

  ClientIdentity identity;           // name of the client and of its library
  ClientAddresses addresses;         // addresses of both ends of the connection
  ClientUsage usage;                 // statistics of commands and bytes
  OutputAccount output_account;      // statistics of the output, for ClientLimits
  MemoryPlace memory_place;          // where ClientMemory stores this session
  size_t unauthenticated_bytes = 0;  // this client's part of Clients::UnauthenticatedBytes
  int64_t history_offset = 0;        // replication offset after this client's last command (WAIT)
  uint64_t appended_aof_bytes = 0;   // Durability::AppendedAofBytes after this client's last write (WAITAOF)
  size_t unapplied_bytes = 0;        // kPrimary: bytes of input after the last applied request; see Pump

  std::string deferred_pushes;             // pushes to this client that are sent after the running command's reply
  std::vector<size_t> redacted_arguments;  // indexes of arguments that SLOWLOG and MONITOR must not show

  Session* caller = nullptr;  // if the session is a script's: the client that runs the script

  std::unique_ptr<Subscriptions> subscriptions;   // to channels and patterns; null: none
  std::unique_ptr<PausedRequest> paused_request;  // a request that runs first when the session continues; null: none
  std::unique_ptr<BlockedClient> blocked_client;  // the wait in BLPOP, WAIT …; null: not blocked
  std::unique_ptr<Transaction> transaction;       // MULTI and WATCH; null before the first of them
  std::unique_ptr<TrackingOptions> tracking;      // CLIENT TRACKING; null: off
  std::unique_ptr<Replica> replica;               // for a replica; null before the first REPLCONF or PSYNC
  std::unique_ptr<ClientFaultState> fault_state;  // what TEST FAULT does to this client; null: nothing

  bool IsScript() const { return reply_form == ReplyForm::kBinary; }  // the session runs the commands of a script
  Session& Caller() { return caller == nullptr ? *this : *caller; }   // this client, or the one that runs this script
  bool IsBlocked() const {  // the next request must wait: blocked, paused or delayed
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
  void NoteSent(size_t bytes) {  // must be called after sending: removes the first `bytes` of `out`
    out.Consume(bytes);
    if (fault_state != nullptr) fault_state->gate.NoteSent(bytes);
  }
  // Returns true if all output was sent, or if the rest must never be sent (OutputGate::AddFinalBarrier).
  bool HasSentAll() const {  // all output was sent, or the rest must never be sent
    return out.IsEmpty() || (fault_state != nullptr && fault_state->gate.HasReachedEnd());
  }

  // OutputBytes leaves out the first block of output, as "omem" of CLIENT LIST in Redis leaves out the static buffer.
  static constexpr size_t kUncountedOutputBytes = BlockPool::kBlockBytes;  // output that OutputBytes leaves out
  size_t OutputBytes() const;  // memory of output in bytes, as "omem" in CLIENT LIST

  // Returns the memory in bytes that this client uses: the session, its input, output, waiting request, queued
  // commands, watched keys, subscriptions and tracking prefixes. Cost: O(1), and O(arguments) while a request is paused
  // or blocked.
  size_t HeldBytes() const;  // memory that this client uses
};

inline size_t Session::OutputBytes() const {  // memory of the output above kUncountedOutputBytes
  size_t held = out.HeldBytes();
  if (replica != nullptr) held += replica->waiting_bytes;
  return held > kUncountedOutputBytes ? held - kUncountedOutputBytes : 0;
}

inline size_t HeldBytesOf(const std::string& text) {  // heap memory of a text: 0 if it is stored in the string object
  static const size_t kInPlace = std::string().capacity();
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}
inline size_t HeldBytesOf(const std::vector<std::string>& words) {  // heap memory of the vector and its texts
  size_t bytes = words.capacity() * sizeof(std::string);
  for (const std::string& word : words) bytes += HeldBytesOf(word);
  return bytes;
}

inline size_t Session::HeldBytes() const {  // memory that this client uses
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

inline bool InSubscribedMode(const Session& session) {  // RESP2 with subscriptions, so only few commands are allowed
  return session.subscriptions != nullptr && session.resp == RespVersion::kResp2;
}

inline void DropAllSubscriptions(Session& session) {  // ends all subscriptions without notifying the client
  session.subscriptions.reset();
  if (session.kind == SessionKind::kPubSub) session.kind = SessionKind::kNormal;
}

}  // namespace respite
