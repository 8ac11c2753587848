// The parts of a Session: one small struct for each component that keeps state per client. The structs contain names,
// addresses and counts. They also contain what CLIENT REPLY, READONLY, CLIENT TRACKING, SUBSCRIBE, the client limits
// and TEST FAULT have set. The structs do not refer to the Session.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/refusal.h"
#include "protocol/reply_buffer.h"
#include "server/clients/output_gate.h"

namespace respite {

struct Command;
class PubSub;
struct PubSubTopic;
class SlotSet;

namespace refusals {

inline constexpr char kClientName[] = "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace refusals

struct ClientIdentity {            // name and library that the client has announced; else empty
  std::string name;                // name of the client, set by CLIENT SETNAME or HELLO
  std::string lib_name;            // name of the client library, set by CLIENT SETINFO
  std::string lib_version;         // version of the client library, set by CLIENT SETINFO
  bool follows_redirects = false;  // set by CLIENT CAPA redirect: the client understands the error -REDIRECT
};

// Checks a name or another text of CLIENT SETNAME, HELLO or CLIENT SETINFO. As in Redis, checks only the text before
// the first NUL byte, because only this text is shown.
inline bool IsValidClientAttribute(Bytes text) {  // true: only visible ASCII up to the first NUL
  Bytes shown = text.substr(0, text.find('\0'));
  return std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '!' && c <= '~'; });
}

inline void CheckClientName(Bytes name) {  // throws a Refusal if the client name has blanks or special characters
  if (!IsValidClientAttribute(name)) throw Refusal{refusals::kClientName};
}

struct ClientAddresses {  // addresses of both ends of a client's connection, set when it is accepted
  // Returns whether the client connects by a loopback address or a Unix socket. Some directives give local clients more
  // rights, for example `enable-debug-command local`.
  bool IsLocal() const { return is_loopback || is_unix_socket; }  // true: the client is on this machine

  // Returns whether the client has an IPv6 address. As in Valkey, clients of a Unix socket count as clients with an
  // IPv4 address.
  bool IsIpv6() const { return peer.starts_with('['); }  // true: IPv6; false: IPv4 or a Unix socket

  std::string peer;             // address of the client: "127.0.0.1:50000", or "/path/to.sock:0"
  std::string local;            // address of the server's end of the connection: "127.0.0.1:6379"
  bool is_unix_socket = false;  // true: the client is connected by the Unix socket
  bool is_loopback = true;      // true: the client has an address such as 127.0.0.1
  bool is_encrypted = false;    // true: the connection uses TLS
};

struct ClientUsage {  // statistics of one client: when it was active, its commands, its bytes
  explicit ClientUsage(int64_t now_ms) : created_ms(now_ms), last_active_ms(now_ms) {}

  void NoteInput(size_t bytes, int64_t now_ms) {  // counts bytes that the client has sent just now
    bytes_in += bytes;
    ++read_events;
    last_active_ms = now_ms;
  }
  void NoteBufferedInput(size_t bytes) {  // `bytes` of input wait now; keeps the maximum
    input_peak_bytes = std::max(input_peak_bytes, bytes);
  }

  int64_t created_ms;                     // monotonic clock time when the client connected
  int64_t last_active_ms;                 // monotonic clock time when bytes last came from, or went to, the client
  const Command* last_command = nullptr;  // command of the last request, also if refused; null: none, or unknown
  uint64_t commands = 0;                  // number of commands that have run, also in EXEC and scripts
  uint64_t read_events = 0;               // how often bytes arrived from the client
  uint64_t bytes_in = 0;                  // bytes received from the client
  uint64_t bytes_out = 0;                 // bytes sent to the client
  size_t input_peak_bytes = 0;            // maximum of waiting input since the timer last checked the client
};

class ReplyState {  // CLIENT REPLY ON, OFF or SKIP: whether replies are sent to the client
 public:
  bool IsOn() const { return mode_ == Mode::kOn; }    // true: all replies are sent
  bool IsOff() const { return mode_ == Mode::kOff; }  // true: no replies are sent until CLIENT REPLY ON
  bool IsSilent() const { return mode_ == Mode::kOff || mode_ == Mode::kSkip; }  // current reply is dropped

  void TurnOn() {                                     // CLIENT REPLY ON: replies are sent again
    if (mode_ != Mode::kSkipNext) mode_ = Mode::kOn;  // Redis: an earlier SKIP in the transaction stays
  }
  void TurnOff() { mode_ = Mode::kOff; }  // CLIENT REPLY OFF: no replies are sent
  void SkipNextReply() {                  // CLIENT REPLY SKIP: the next command gets no reply
    if (mode_ != Mode::kOff) mode_ = Mode::kSkipNext;
  }
  // Turns replies on again. As in Redis, a RESET directly after CLIENT REPLY SKIP nevertheless gets no reply.
  void Reset() {  // the command RESET: turns replies on again
    if (mode_ != Mode::kSkip) mode_ = Mode::kOn;
  }

  enum class Fate : uint8_t { kSent, kDropped };  // whether a reply is sent
  Fate EndCommand();  // call it after each command; whether the client gets the command's reply

 private:
  enum class Mode : uint8_t {  // what CLIENT REPLY has set
    kOn,
    kOff,
    kSkipNext,  // the running command is CLIENT REPLY SKIP: the next command has no reply
    kSkip,      // the running command has no reply
  };

  Mode mode_ = Mode::kOn;  // what CLIENT REPLY has set
};

struct ClientClusterState {  // a client's settings for cluster commands: ASKING, READONLY, slot imports
  // Which requests may use slots that are being imported to this node, because the client has sent ASKING. kNext: the
  // client's next request. kTransaction: the request after ASKING was MULTI, so all requests of this transaction.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };  // which requests ASKING applies to
  Asking asking = Asking::kNo;       // for which requests ASKING allows slots that are being imported
  bool reads_from_replica = false;   // READONLY was sent: a replica may serve the client's reads
  const SlotSet* imports = nullptr;  // slots that this client, another node, is sending here; null: none
  bool is_internal = false;          // a node of Redis, with which this node moves slots by Redis' protocol
};

struct TrackingOptions {       // CLIENT TRACKING's options: which keys to track, and which client to tell
  enum class Mode : uint8_t {  // which keys are tracked
    kAll,                      // every key that the client reads
    kOptIn,                    // the keys of commands after CLIENT CACHING YES
    kOptOut,                   // all keys except those of commands after CLIENT CACHING NO
    kBroadcast,                // every key with one of the prefixes, read or not
  };

  Mode mode = Mode::kAll;           // which keys are tracked
  bool no_loop = false;             // option NOLOOP: the client's own changes cause no invalidations
  uint64_t redirect = 0;            // option REDIRECT: id of the client that gets the invalidations; 0: this client
  bool redirect_lost = false;       // true: the client that `redirect` names has disconnected
  bool has_caching_choice = false;  // true: CLIENT CACHING was sent, for the next command or transaction
  std::set<std::string, std::less<>> prefixes = {};  // option PREFIX for kBroadcast; "" means all keys

  size_t HeldBytes() const {  // memory of the options in bytes, estimated
    constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
    return sizeof *this + prefixes.size() * kNodeBytes;
  }
};

struct FieldSets {  // named lists of hash fields that this client made by HIMPORT PREPARE
  // std::map with std::less<> finds a name that is given as a view, without copying it to a string.
  std::map<std::string, std::vector<std::string>, std::less<>> by_name;  // fields of each prepared list, by its name
  size_t by_name_bytes = 0;                                              // memory of by_name in bytes, estimated

  static size_t BytesOf(const std::string& name, const std::vector<std::string>& fields) {  // memory of one field list
    size_t bytes = sizeof(fields) + 2 * sizeof(std::string) + 4 * sizeof(void*) + name.size();
    for (const std::string& field : fields) bytes += sizeof(std::string) + field.size();
    return bytes;
  }
  size_t HeldBytes() const { return sizeof *this + by_name_bytes; }  // memory in bytes, estimated
};

enum class PubSubKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;  // number of PubSubKind values

class Subscriptions {  // what one session is subscribed to; destroyed when its last subscription ends
 public:
  explicit Subscriptions(PubSub& pubsub) : pubsub_(pubsub) {}
  // Ends all subscriptions of the session.
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  size_t Count(PubSubKind kind) const {  // number of channels or patterns of this kind
    return counts_[static_cast<size_t>(kind)];
  }
  size_t TotalCount() const { return places_.size(); }  // number of channels, patterns and shard channels
  void UnsubscribeSome(size_t count);                   // ends at most `count` subscriptions
  // Returns the channels or patterns of one kind that the session is subscribed to, oldest subscription first. If there
  // are more than `max_count`, returns an arbitrary choice of them.
  std::vector<PubSubTopic*> ChannelsOfKind(PubSubKind kind,  // subscribed channels or patterns, oldest first
                                           size_t max_count = SIZE_MAX) const;
  size_t UsedBytes() const;  // memory of the subscriptions in bytes

 private:
  friend class PubSub;
  struct Place {       // the position of one subscription in the lists of PubSub
    uint32_t in_list;  // index of the session in PubSubTopic::subscribers
    uint64_t since;    // number of the subscription; later subscriptions have larger ones
  };

  PubSub& pubsub_;                                  // owns the channels and patterns
  std::unordered_map<PubSubTopic*, Place> places_;  // all subscriptions, by channel or pattern
  std::array<uint32_t, kTopicKinds> counts_{};      // number of subscriptions of each PubSubKind
};

// Statistics of one session's output. In Redis each client has its own reply buffer, which is resized to fit its
// replies. Here clients share blocks of a pool while they have output. So the size and peak of Redis' buffer, which
// CLIENT LIST shows as rbs and rbp, are emulated.
class OutputAccount {  // a session's output statistics; emulates Redis' reply buffer
 public:
  explicit OutputAccount(int64_t now_ms) : peak_since_ms_(now_ms) {}

  size_t EmulatedBufferBytes() const { return emulated_buffer_bytes_; }  // shown as rbs of CLIENT LIST
  size_t EmulatedBufferPeakBytes() const { return peak_bytes_; }         // shown as rbp of CLIENT LIST
  void NoteOutput(size_t bytes) {  // output was added; `bytes`: size of all unsent output
    peak_bytes_ = std::max(peak_bytes_, std::min(bytes, emulated_buffer_bytes_));
  }

 private:
  friend class ClientLimits;
  static constexpr int64_t kWithinSoftLimit = -1;  // over_soft_limit_since_ms_ while below the limit

  size_t emulated_buffer_bytes_ = BlockPool::kBlockBytes;  // size that Redis' reply buffer would have
  size_t peak_bytes_ = BlockPool::kBlockBytes;             // most bytes in Redis' reply buffer since peak_since_ms_
  int64_t peak_since_ms_;                                  // monotonic clock time when peak_bytes_ was last reset
  int64_t over_soft_limit_since_ms_ = kWithinSoftLimit;    // clock time since when output exceeds the soft limit
};

class MemoryPlace {  // where ClientMemory lists a session: its size class, index and counted bytes
 private:
  friend class ClientMemory;
  static constexpr int16_t kNoSizeClass = -1;  // size_class_ if not measured yet, or never closed for maxmemory-clients

  size_t counted_bytes_ = 0;           // the session's part of ClientMemory::total_bytes_
  uint32_t place_ = 0;                 // index of the session in ClientMemory::classes_[size_class_]
  int16_t size_class_ = kNoSizeClass;  // size class of the session: index in ClientMemory::classes_
};

struct ReplyFault {  // what TEST FAULT does to one reply: hold, slow, cut or replace it
  enum class Kind : uint8_t {
    kHold,     // the reply and all later output are sent after `amount` ms
    kSilence,  // the reply and all later output are held back until Release
    kTrickle,  // `amount` bytes of the reply are sent per second
    kCut,      // `amount` bytes of the reply are sent, then the connection ends
    kReplace,  // `text` is sent instead of the reply, if there is a reply
  };
  Kind kind;
  int64_t amount = 0;     // milliseconds, bytes, or bytes per second: Kind says which
  std::string text = {};  // kReplace: the reply that is sent instead
  uint64_t rule_id = 0;   // id of the fault rule, for ClientFaults::Release; 0: not set yet
};

struct ClientFaultState {             // active faults of one client (TEST FAULT); exists only while there are any
  std::optional<ReplyFault> pending;  // fault for the reply of the running or blocked request
  OutputGate gate;                    // holds back or slows the client's output
  bool is_request_delayed = false;    // true: the request in Session::paused_request waits until delayed_until_ms
  uint64_t delay_rule_id = 0;         // id of the fault rule that delays the request, for ClientFaults::Release
  int64_t delayed_until_ms = 0;       // monotonic clock time when the delayed request will run

  bool IsOver() const { return !pending && !is_request_delayed && gate.IsOpen(); }  // no fault is left
  int64_t NextDueMs() const {  // monotonic clock time when a delayed request or held output is due; kNever: none
    const int64_t output_ms = gate.NextDueMs();
    return is_request_delayed && delayed_until_ms < output_ms ? delayed_until_ms : output_ms;
  }
  size_t HeldBytes() const {  // memory of this object in bytes
    return sizeof(ClientFaultState) + gate.HeldBytes() + (pending ? pending->text.capacity() : 0);
  }
};

inline ReplyState::Fate ReplyState::EndCommand() {  // must be called after each command; kDropped: send no reply
  const Fate fate = IsSilent() ? Fate::kDropped : Fate::kSent;
  if (mode_ == Mode::kSkip) {
    mode_ = Mode::kOn;
  } else if (mode_ == Mode::kSkipNext) {
    mode_ = Mode::kSkip;
  }
  return fate;
}

}  // namespace respite
