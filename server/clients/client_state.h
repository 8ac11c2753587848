// The state of one client, which its Session stores: one small struct for each component. They contain names, addresses
// and counts, and what CLIENT REPLY, READONLY, CLIENT TRACKING, SUBSCRIBE, the client limits and TEST FAULT have set.
// The structs do not know the Session.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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
struct PubSubChannel;
class SlotSet;

namespace refusals {

inline constexpr char kClientName[] = "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace refusals

struct ClientIdentity {            // what the client has told about itself; empty until then
  std::string name;                // set by CLIENT SETNAME or HELLO
  std::string lib_name;            // name of the client library, set by CLIENT SETINFO
  std::string lib_version;         // version of the client library, set by CLIENT SETINFO
  bool follows_redirects = false;  // CLIENT CAPA redirect: a replica may answer -REDIRECT with its primary's address
};

// Checks a name or another text of CLIENT SETNAME, HELLO or CLIENT SETINFO. As in Redis, the text after a NUL byte is
// neither checked nor shown.
inline bool IsValidClientAttribute(Bytes text) {  // true: no blanks or special characters
  Bytes shown = text.substr(0, text.find('\0'));
  return std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '!' && c <= '~'; });
}

inline void CheckClientName(Bytes name) {  // throws a Refusal if the name is invalid
  if (!IsValidClientAttribute(name)) throw Refusal{refusals::kClientName};
}

struct ClientAddresses {  // addresses of both ends of the connection, set when it is accepted
  // Returns whether the client runs on this machine. Some directives give such clients more rights, for example
  // `enable-debug-command local`.
  bool IsLocal() const { return is_loopback || is_unix_socket; }  // the client is on this machine

  // Returns whether the client has an IPv6 address. As in Valkey, clients of a Unix socket count as clients with an
  // IPv4 address.
  bool IsIpv6() const { return peer.starts_with('['); }  // the client has an IPv6 address

  std::string peer;             // address of the client: "127.0.0.1:50000", "/path/to.sock:0"
  std::string local;            // address of the server's end: "127.0.0.1:6379"
  bool is_unix_socket = false;  // the client uses the Unix socket
  bool is_loopback = true;      // the client has an address of this machine: 127.0.0.1
  bool encrypted = false;       // the connection uses TLS
};

struct ClientUsage {  // statistics of one client
  explicit ClientUsage(int64_t now_ms) : created_ms(now_ms), last_active_ms(now_ms) {}

  void NoteInput(size_t bytes, int64_t now_ms) {  // counts bytes that the client has sent
    bytes_in += bytes;
    last_active_ms = now_ms;
  }
  void NoteBufferedInput(size_t bytes) { input_peak_bytes = std::max(input_peak_bytes, bytes); }  // updates the peak

  int64_t created_ms;                     // monotonic time when the client connected
  int64_t last_active_ms;                 // monotonic time when the client last sent bytes
  const Command* last_command = nullptr;  // the last command that the client ran; null: none yet
  uint64_t commands = 0;                  // number of commands that the client has run
  uint64_t bytes_in = 0;                  // bytes received from the client
  uint64_t bytes_out = 0;                 // bytes sent to the client
  size_t input_peak_bytes = 0;            // most bytes of buffered input since the timer's last check
};

class ReplyState {  // whether replies are sent to the client: CLIENT REPLY
 public:
  bool IsOn() const { return mode_ == Mode::kOn; }    // replies are sent
  bool IsOff() const { return mode_ == Mode::kOff; }  // no replies are sent until CLIENT REPLY ON
  bool IsSilent() const { return mode_ == Mode::kOff || mode_ == Mode::kSkip; }  // true: the current reply is not sent

  void TurnOn() {                                     // CLIENT REPLY ON
    if (mode_ != Mode::kSkipNext) mode_ = Mode::kOn;  // Redis: an earlier SKIP in the transaction stays
  }
  void TurnOff() { mode_ = Mode::kOff; }  // CLIENT REPLY OFF
  void SkipNextReply() {                  // CLIENT REPLY SKIP: the next command gets no reply
    if (mode_ != Mode::kOff) mode_ = Mode::kSkipNext;
  }
  // Turns replies on again. As in Redis, a RESET directly after CLIENT REPLY SKIP nevertheless gets no reply.
  void Reset() {  // for the command RESET: turns replies on again
    if (mode_ != Mode::kSkip) mode_ = Mode::kOn;
  }

  enum class Fate : uint8_t { kSent, kDropped };
  Fate EndCommand();  // called after each command; returns whether its reply is sent

 private:
  enum class Mode : uint8_t {
    kOn,
    kOff,
    kSkipNext,  // the running command is CLIENT REPLY SKIP: the next command has no reply
    kSkip,      // the running command has no reply
  };

  Mode mode_ = Mode::kOn;
};

struct ClientClusterState {  // what ASKING and READONLY have set for a client
  // Whether the client has sent ASKING. If so, its next request, or the transaction that this request begins, may use a
  // slot that is being imported to this node.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };
  Asking asking = Asking::kNo;       // which requests may use an importing slot, because ASKING was sent
  bool reads_from_replica = false;   // READONLY was sent: a replica may serve its reads
  const SlotSet* imports = nullptr;  // slots that the peer, a node, sends and may write; null: an ordinary client
};

struct TrackingOptions {  // CLIENT TRACKING: which keys are tracked for a client, and who is told
  enum class Mode : uint8_t {
    kAll,        // every key that it reads
    kOptIn,      // the keys of commands after CLIENT CACHING YES
    kOptOut,     // all keys except those of commands after CLIENT CACHING NO
    kBroadcast,  // every key with one of the prefixes, read or not
  };

  Mode mode = Mode::kAll;
  bool no_loop = false;        // NOLOOP: no invalidations for the client's own changes
  uint64_t redirect = 0;       // REDIRECT: id of the client that gets the invalidations; 0: this client
  bool redirect_lost = false;  // the client with the id `redirect` was closed
  bool caching_given = false;  // CLIENT CACHING yes or no applies to the next command
  std::set<std::string, std::less<>> prefixes = {};  // PREFIX: which keys kBroadcast tracks; "" means all keys

  size_t HeldBytes() const {  // memory, estimated
    constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
    return sizeof *this + prefixes.size() * kNodeBytes;
  }
};

enum class PubSubKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

class Subscriptions {  // the subscriptions of one session; created by its first subscribe command
 public:
  explicit Subscriptions(PubSub& pubsub) : pubsub_(pubsub) {}
  // Ends all subscriptions of the session.
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  size_t Count(PubSubKind kind) const { return counts_[static_cast<size_t>(kind)]; }  // number of its subscriptions
  size_t TotalCount() const { return places_.size(); }  // number of subscriptions of all kinds
  void UnsubscribeSome(size_t count);                   // ends up to `count` subscriptions
  // Returns the channels or patterns of one kind that the session is subscribed to, oldest subscription first. If there
  // are more than `max_count`, returns an arbitrary choice of them.
  std::vector<PubSubChannel*> ChannelsOfKind(PubSubKind kind, size_t max_count = SIZE_MAX) const;  // oldest first
  size_t UsedBytes() const;  // memory of the subscriptions

 private:
  friend class PubSub;
  struct Place {       // the position of one subscription in the lists of PubSub
    uint32_t in_list;  // index in PubSubChannel::subscribers
    uint64_t since;    // number of the subscription; a larger number is younger
  };

  PubSub& pubsub_;                                    // owns the channels and patterns
  std::unordered_map<PubSubChannel*, Place> places_;  // the subscriptions, by channel or pattern
  std::array<uint32_t, kTopicKinds> counts_{};        // number of subscriptions, by PubSubKind
};

// Statistics of one session's output. In Redis each client has its own reply buffer, which is resized to fit its
// replies. Here clients share blocks of a pool while they have output. So the size and peak of Redis' buffer, which
// CLIENT LIST shows, are emulated.
class OutputAccount {  // statistics of one session's output; emulates the size of Redis' reply buffer
 public:
  explicit OutputAccount(int64_t now_ms) : peak_since_ms_(now_ms) {}

  size_t EmulatedBufferBytes() const { return emulated_buffer_bytes_; }  // size of the buffer that Redis would have
  size_t EmulatedBufferPeakBytes() const { return peak_bytes_; }         // most bytes of that buffer used recently
  // Must be called when output was added: `bytes` of output now wait to be sent.
  void NoteOutput(size_t bytes) {  // `bytes` of output now wait; updates the peak
    peak_bytes_ = std::max(peak_bytes_, std::min(bytes, emulated_buffer_bytes_));
  }

 private:
  friend class ClientLimits;
  static constexpr int64_t kWithinSoftLimit = -1;  // value of over_soft_limit_since_ms_ below the soft limit

  size_t emulated_buffer_bytes_ = BlockPool::kBlockBytes;  // size of the buffer that Redis would have
  size_t peak_bytes_ = BlockPool::kBlockBytes;             // most bytes of that buffer used since peak_since_ms_
  int64_t peak_since_ms_;                                  // monotonic time when peak_bytes_ was reset
  int64_t over_soft_limit_since_ms_ = kWithinSoftLimit;    // monotonic time when output exceeded the soft limit
};

class MemoryPlace {  // where ClientMemory stores a session, and with which size
 private:
  friend class ClientMemory;
  static constexpr int16_t kNoClass = -1;  // size_class_ of a session that may not be closed or is not measured

  size_t counted_bytes_ = 0;       // the session's share of ClientMemory::total_bytes_
  uint32_t place_ = 0;             // index of the session in the vector classes_[size_class_]
  int16_t size_class_ = kNoClass;  // index in ClientMemory::classes_
};

struct ReplyFault {  // what TEST FAULT does to one reply
  enum class Kind : uint8_t {
    kHold,     // sent after `amount` ms
    kSilence,  // the reply and all later output are held back until Release
    kTrickle,  // `amount` bytes per second
    kCut,      // `amount` bytes are sent, then the connection ends
    kReplace,  // `text` is sent instead
  };
  Kind kind;
  int64_t amount = 0;  // ms, bytes, or bytes per second: see Kind
  std::string text = {};
  uint64_t owner = 0;  // id for ClientFaults::Release; not 0
};

struct ClientFaultState {             // what TEST FAULT does to one client; exists only while a fault is active
  std::optional<ReplyFault> pending;  // fault for the reply of the running or blocked request
  OutputGate gate;
  bool is_request_delayed = false;  // the request in Session::paused_request waits until delayed_until_ms
  uint64_t delay_owner = 0;         // id of the fault rule that delays the request, for ClientFaults::Release
  int64_t delayed_until_ms = 0;     // monotonic time when the delayed request runs

  bool IsOver() const { return !pending && !is_request_delayed && gate.IsOpen(); }  // no fault is left
  int64_t NextDueMs() const {  // monotonic: when the request or more output is due
    const int64_t output_ms = gate.NextDueMs();
    return is_request_delayed && delayed_until_ms < output_ms ? delayed_until_ms : output_ms;
  }
  size_t HeldBytes() const {  // memory that it uses
    return sizeof(ClientFaultState) + gate.HeldBytes() + (pending ? pending->text.capacity() : 0);
  }
};

inline ReplyState::Fate ReplyState::EndCommand() {  // returns whether the ended command's reply is sent
  const Fate fate = IsSilent() ? Fate::kDropped : Fate::kSent;
  if (mode_ == Mode::kSkip) {
    mode_ = Mode::kOn;
  } else if (mode_ == Mode::kSkipNext) {
    mode_ = Mode::kSkip;
  }
  return fate;
}

}  // namespace respite
