// Session: the server's state of one client, regardless of its transport.
//
// A Transport (a socket, or a test double) moves bytes. Pump turns the input into requests. Executor runs the
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

class Transport {  // interface to a session's connection: a client's socket, the link to the primary, or a test double
 public:
  virtual ~Transport() = default;
  // Sends output of the session (`out`), until about `max_bytes` were sent or the socket accepts no more. The rest is
  // sent in later Turns without another call.
  virtual void Flush(size_t max_bytes) = 0;  // sends about `max_bytes` of output now, the rest later
  // Runs further requests of a session that was paused, or that had used up its share of the Turn.
  virtual void Resume() = 0;                               // runs the input of a session that was paused
  virtual void Close() = 0;                                // closes the connection now; the session is freed soon after
  virtual int FileDescriptor() const = 0;                  // number of the socket, for CLIENT LIST
  virtual bool IsWaitingToWrite() const { return false; }  // true: output waits until the peer accepts more
  virtual bool IsHandshakeLate() const { return false; }   // true: the TLS handshake takes too long
};

// The kind of program at the other end of the session. kNormal: a client. kReplica: a replica of this server. kPubSub:
// a client with subscriptions. kPrimary: the primary of this server, which sends the replication stream.
enum class SessionKind : uint8_t { kNormal, kReplica, kPubSub, kPrimary };  // what is at the other end

// The fate of a client's latest change of data, for WAIT and WAITAOF. kNone: the client has changed nothing.
// kKept: this server still has the change. kLost: since the change, this server has loaded the data of a primary, which
// replaced the change.
enum class LastChange : uint8_t { kNone, kKept, kLost };  // what has become of a client's latest change of data

class QueueFlags {  // whether the session is in each of the queues of Clients
 private:
  friend class Clients;

  bool is_in_flush_queue_ = false;      // true: has output to send, and is in one of two queues for this
  bool is_in_pause_queue_ = false;      // true: the request waits for the end of a pause, as of CLIENT PAUSE
  bool is_in_unblocked_queue_ = false;  // true: the client's wait has ended, its further input must run
};

struct Session {  // the server's state of one client
  Session(uint64_t session_id, BlockPool& pool, const User& initial_user, int64_t now_ms)
      : id(session_id), out(pool), user(&initial_user), usage(now_ms), output_account(now_ms) {}

  uint64_t id;                              // id of the client; 0: a session without a client, for a script or loading
  RequestParser in;                         // splits the client's input into requests
  ReplyBuffer out;                          // replies and messages that the client has not received yet
  RespVersion resp = RespVersion::kResp2;   // the protocol that the client has chosen by HELLO
  ReplyForm reply_form = ReplyForm::kWire;  // how replies are written: as RESP, or for a script
  SessionKind kind = SessionKind::kNormal;  // a client, a replica, a subscriber or this server's primary
  bool authenticated = true;                // true: the client has logged in, or connected while no login was needed
  int db = 0;                               // number of the selected database
  const User* user;                         // the ACL user who has logged in; never null
  Transport* transport = nullptr;           // the connection; null: the session has none

  bool closing = false;              // the connection was closed: no more input, commands or output
  bool close_after_reply = false;    // the connection closes as soon as all output was sent
  bool monitor = false;              // MONITOR: the client is sent the commands of all clients
  bool no_evict = false;             // CLIENT NO-EVICT on: maxmemory-clients never closes this client
  bool no_touch = false;             // CLIENT NO-TOUCH on: only TOUCH of this client updates LRU and LFU
  bool import_source = false;        // CLIENT IMPORT-SOURCE on: in import-mode the client sees expired keys
  bool runs_fixture = false;         // the session runs the commands of a fixture (TEST LOAD)
  bool maint_notifications = false;  // CLIENT MAINT_NOTIFICATIONS ON: the client wants to be told of maintenance
  LastChange last_change = LastChange::kNone;  // fate of the latest change; kLost: WAIT and WAITAOF count no server
  ReplyState replies;                          // CLIENT REPLY: whether the client gets replies
  ClientClusterState cluster_options;          // the client's settings for cluster commands: ASKING, READONLY …
  QueueFlags queue_flags;                      // which queues of Clients contain this session

  ClientIdentity identity;           // name and library that the client has announced
  ClientAddresses addresses;         // addresses of both ends of the client's connection
  ClientUsage usage;                 // statistics: when the client was active, its commands, its bytes
  OutputAccount output_account;      // statistics of the client's output, for ClientLimits and CLIENT LIST
  MemoryPlace memory_place;          // the class and index with which ClientMemory keeps this session
  size_t unauthenticated_bytes = 0;  // this session's part of Clients::UnauthenticatedBytes
  int64_t wait_offset = 0;           // replication offset after this client's last command, up to which WAIT wants ACKs
  uint64_t appended_aof_bytes = 0;   // bytes appended to the AOF in total until this client's last write (WAITAOF)
  size_t unapplied_bytes = 0;        // stream bytes of a primary that were received, but not applied

  std::string deferred_pushes;             // messages to send after the reply of the running command
  std::vector<size_t> redacted_arguments;  // indexes of the running command's secret arguments, for SLOWLOG, MONITOR …

  Session* caller = nullptr;  // a script's session: the session of the client that runs the script

  std::unique_ptr<Subscriptions> subscriptions;   // what the client is subscribed to; null: nothing
  std::unique_ptr<PausedRequest> paused_request;  // a request that waits, new or half done, and runs next; null: none
  std::unique_ptr<CommandState> command_state;    // what a command keeps until its next Turn; null: nothing
  std::unique_ptr<BlockedClient> blocked_client;  // the wait in BLPOP, WAIT …; null: not blocked
  std::unique_ptr<Transaction> transaction;       // commands since MULTI, and WATCHed keys; null: none
  std::unique_ptr<TrackingOptions> tracking;      // options of CLIENT TRACKING; null: it is off
  std::unique_ptr<FieldSets> field_sets;          // lists of field names of HIMPORT PREPARE; null: there are none
  std::unique_ptr<Replica> replica;               // what is known about this replica; null: no REPLCONF or PSYNC came
  std::unique_ptr<ClientFaultState> fault_state;  // active faults (TEST FAULT); null: none

  bool IsScript() const { return reply_form == ReplyForm::kBinary; }  // true: this session runs a script's commands
  Session& Caller() { return caller == nullptr ? *this : *caller; }   // of a script: its client's session; else this
  bool IsBlocked() const {  // true: the request is blocked, or was paused or delayed before it ran; later ones wait
    return blocked_client != nullptr ||
           (paused_request != nullptr && paused_request->progress.stage == Progress::Stage::kAgain) || IsDelayed();
  }
  bool IsDelayed() const {  // true: TEST FAULT delays the session's request
    return fault_state != nullptr && fault_state->is_request_delayed;
  }
  bool InTransaction() const { return transaction != nullptr && transaction->IsOpen(); }  // true: after MULTI
  Transaction& EnsureTransaction() {  // returns the transaction, and creates it if there is none
    if (transaction == nullptr) transaction = std::make_unique<Transaction>();
    return *transaction;
  }

  size_t SendableBytes() const {  // bytes of output that may be sent now; TEST FAULT may hold back the rest
    return fault_state == nullptr ? out.Size() : fault_state->gate.SendableBytes(out.Size());
  }
  void NoteSent(size_t bytes) {  // removes the first `bytes` of output, which were sent
    out.Consume(bytes);
    if (fault_state != nullptr) fault_state->gate.NoteSent(bytes);
  }
  // Returns true if all output was sent, or if the rest must never be sent (OutputGate::EndOutputAfter).
  bool HasSentAll() const {  // true: no output is left that may be sent
    return out.IsEmpty() || (fault_state != nullptr && fault_state->gate.HasReachedEnd());
  }

  // OutputBytes does not count the first block of the output, which has this size. In Redis, "omem" of CLIENT LIST does
  // not count the client's static buffer either.
  static constexpr size_t kUncountedOutputBytes = BlockPool::kBlockBytes;  // bytes that OutputBytes does not count
  size_t OutputBytes() const;  // bytes of output that count for the limits: "omem" of CLIENT LIST

  // Returns the memory in bytes that this client uses: the session, its input, output, waiting request, queued
  // commands, watched keys, subscriptions and tracking prefixes. Cost: O(1), and O(arguments) while a request is paused
  // or blocked.
  size_t HeldBytes() const;  // memory of the client in bytes, with all buffers
};

inline size_t Session::OutputBytes() const {  // bytes of output above kUncountedOutputBytes (16 KB)
  size_t held = out.HeldBytes() + deferred_pushes.size();
  if (replica != nullptr) held += replica->backlogged_bytes;
  return held > kUncountedOutputBytes ? held - kUncountedOutputBytes : 0;
}

inline size_t HeldBytesOf(const std::string& text) {  // heap memory in bytes; 0: the text is in the std::string itself
  static const size_t kInPlace = std::string().capacity();
  return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
}
inline size_t HeldBytesOf(const std::vector<std::string>& words) {  // heap memory of a vector and its texts in bytes
  size_t bytes = words.capacity() * sizeof(std::string);
  for (const std::string& word : words) bytes += HeldBytesOf(word);
  return bytes;
}

inline size_t Session::HeldBytes() const {  // memory of the client in bytes, with all buffers
  size_t bytes = sizeof(Session) + in.HeldBytes() + out.HeldBytes() + out.SegmentListBytes() +
                 HeldBytesOf(deferred_pushes) + HeldBytesOf(identity.name) + HeldBytesOf(identity.lib_name) +
                 HeldBytesOf(identity.lib_version) + HeldBytesOf(addresses.peer) + HeldBytesOf(addresses.local);
  if (paused_request != nullptr) bytes += sizeof(PausedRequest) + HeldBytesOf(paused_request->words);
  if (subscriptions != nullptr) bytes += subscriptions->UsedBytes();
  if (transaction != nullptr) bytes += transaction->HeldBytes();
  if (tracking != nullptr) bytes += tracking->HeldBytes();
  if (field_sets != nullptr) bytes += field_sets->HeldBytes();
  if (fault_state != nullptr) bytes += fault_state->HeldBytes();
  if (blocked_client != nullptr)
    bytes += sizeof(BlockedClient) + HeldBytesOf(blocked_client->words) + blocked_client->HeldPlaceBytes();
  return bytes;
}

inline bool InSubscribedMode(const Session& session) {  // a RESP2 client that may run only (P)SUBSCRIBE, PING …
  return session.subscriptions != nullptr && session.resp == RespVersion::kResp2;
}

inline void DropAllSubscriptions(Session& session) {  // ends all subscriptions, without a message to the client
  session.subscriptions.reset();
  if (session.kind == SessionKind::kPubSub) session.kind = SessionKind::kNormal;
}

}  // namespace respite
