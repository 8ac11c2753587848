// The state that a Session keeps for its client, as one small struct for each component: its names, addresses and
// counts, and what CLIENT REPLY, READONLY, CLIENT TRACKING, SUBSCRIBE, the limits of clients and TEST FAULT have set
// for it. The structs do not know the Session.
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

// Names and capabilities that the client has sent; empty until then.
struct ClientIdentity {
  std::string name;                // CLIENT SETNAME, HELLO
  std::string lib_name;            // CLIENT SETINFO
  std::string lib_version;         // CLIENT SETINFO
  bool follows_redirects = false;  // CLIENT CAPA: a replica may redirect it to its primary
};

// Returns whether a name that a client gives itself does not break the format of CLIENT LIST. Redis: ignores (and does
// not show) the text after a NUL.
inline bool IsClientAttribute(Bytes text) {
  Bytes shown = text.substr(0, text.find('\0'));
  return std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Throws the error of CLIENT SETNAME and HELLO … SETNAME for an invalid name.
inline void CheckClientName(Bytes name) {
  if (!IsClientAttribute(name)) throw Refusal{refusals::kClientName};
}

// Both ends of the connection, set when it is accepted.
struct ClientAddresses {
  // Returns whether the client is on this machine. Local clients may have more rights (enable-debug-command local …).
  bool IsLocal() const { return loopback || unix_socket; }

  // Returns whether the client uses IPv6. Clients of a Unix socket count as IPv4, like in Valkey.
  bool IsIpv6() const { return peer.starts_with('['); }

  std::string peer;  // "127.0.0.1:50000", "/path/to.sock:0"
  std::string local;
  bool unix_socket = false;
  bool loopback = true;
  bool encrypted = false;  // TLS
};

// Statistics of one client. Times are in milliseconds of the monotonic clock.
struct ClientUsage {
  explicit ClientUsage(int64_t now_ms) : created_ms(now_ms), last_active_ms(now_ms) {}

  void Received(size_t bytes, int64_t now_ms) {
    bytes_in += bytes;
    last_active_ms = now_ms;
  }
  void Buffers(size_t bytes) { input_peak_bytes = std::max(input_peak_bytes, bytes); }

  int64_t created_ms;
  int64_t last_active_ms;
  const Command* last_command = nullptr;
  uint64_t commands = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  size_t input_peak_bytes = 0;  // most input buffered since the timer's last check
};

// Whether the replies of a client are sent (CLIENT REPLY).
class ReplyState {
 public:
  bool IsOn() const { return mode_ == Mode::kOn; }
  // Returns whether no replies are sent until CLIENT REPLY ON.
  bool IsOff() const { return mode_ == Mode::kOff; }
  // Returns whether the current reply is not sent.
  bool IsSilent() const { return mode_ == Mode::kOff || mode_ == Mode::kSkip; }

  void TurnOn() {
    if (mode_ != Mode::kSkipNext) mode_ = Mode::kOn;  // Redis: an earlier SKIP in the transaction stays
  }
  void TurnOff() { mode_ = Mode::kOff; }
  void SkipNext() {
    if (mode_ != Mode::kOff) mode_ = Mode::kSkipNext;
  }
  // RESET. Redis: a RESET directly after CLIENT REPLY SKIP has no reply.
  void Reset() {
    if (mode_ != Mode::kSkip) mode_ = Mode::kOn;
  }

  enum class Fate : uint8_t { kSent, kDropped };
  // Ends a command, and returns whether its reply is sent.
  Fate EndCommand();

 private:
  enum class Mode : uint8_t {
    kOn,
    kOff,
    kSkipNext,  // the running command is CLIENT REPLY SKIP: the next command has no reply
    kSkip,      // the running command has no reply
  };

  Mode mode_ = Mode::kOn;
};

// Cluster options of a client's requests.
struct ClientClusterState {
  // ASKING: the next request, or the transaction that it begins, may use a slot that is being imported to this node.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };
  Asking asking = Asking::kNo;
  bool reads_from_replica = false;  // READONLY
  // The slots that the node at the other end sends; it may write to no other slots. Null for ordinary clients.
  const SlotSet* imports = nullptr;
};

// How a client is notified of changes to keys that it caches (CLIENT TRACKING).
struct TrackingOptions {
  enum class Mode : uint8_t {
    kAll,        // every key that it reads
    kOptIn,      // the keys of commands after CLIENT CACHING YES
    kOptOut,     // all keys except those of commands after CLIENT CACHING NO
    kBroadcast,  // every key with one of the prefixes, read or not
  };

  Mode mode = Mode::kAll;
  bool no_loop = false;                              // no invalidations for its own changes
  uint64_t redirect = 0;                             // id of the client that gets the invalidations; 0: this client
  bool redirect_lost = false;                        // that client was closed
  bool caching_given = false;                        // CLIENT CACHING, for the next command
  std::set<std::string, std::less<>> prefixes = {};  // for kBroadcast; "" means all keys

  // Returns the memory in bytes, an estimate that ignores the length of prefixes.
  size_t HeldBytes() const {
    constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
    return sizeof *this + prefixes.size() * kNodeBytes;
  }
};

enum class PubSubKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

// The subscriptions of one session. Created by its first subscribe command.
class Subscriptions {
 public:
  explicit Subscriptions(PubSub& pubsub) : pubsub_(pubsub) {}
  // Unsubscribes from every channel and pattern.
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  size_t Count(PubSubKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  size_t Total() const { return places_.size(); }
  // Unsubscribes from up to `count` channels and patterns.
  void LeaveSome(size_t count);
  // Returns the channels of one kind in order of subscription; if there are more than `most`, any `most` of them.
  std::vector<PubSubChannel*> OfKind(PubSubKind kind, size_t most = SIZE_MAX) const;
  size_t UsedBytes() const;

 private:
  friend class PubSub;
  struct Place {
    uint32_t in_list;
    uint64_t since;  // a sequence number
  };

  PubSub& pubsub_;
  std::unordered_map<PubSubChannel*, Place> places_;
  std::array<uint32_t, kTopicKinds> counts_{};
};

// Statistics of one session's output.
//
// Redis: each client has its own reply buffer, which is resized to fit its replies. Respite's clients share blocks of a
// pool while they have output; room and peak emulate the size of Redis' buffer.
class OutputAccount {
 public:
  explicit OutputAccount(int64_t now_ms) : peak_since_ms_(now_ms) {}

  size_t RoomBytes() const { return room_bytes_; }
  // Returns the largest part of the room that was used recently.
  size_t PeakBytes() const { return peak_bytes_; }
  // Notes the size of the output that waits to be sent.
  void NoteOutput(size_t bytes) { peak_bytes_ = std::max(peak_bytes_, std::min(bytes, room_bytes_)); }

 private:
  friend class ClientLimits;
  static constexpr int64_t kNotOver = -1;

  size_t room_bytes_ = BlockPool::kBlockBytes;
  size_t peak_bytes_ = BlockPool::kBlockBytes;  // since peak_since_ms_
  int64_t peak_since_ms_;
  int64_t over_soft_limit_since_ms_ = kNotOver;
};

// A session's position in ClientMemory and the bytes counted for it.
class MemoryPlace {
 private:
  friend class ClientMemory;
  static constexpr int16_t kNoClass = -1;

  size_t counted_bytes_ = 0;
  uint32_t place_ = 0;  // index in its class
  int16_t size_class_ = kNoClass;
};

// A fault that applies to one reply.
struct ReplyFault {
  enum class Kind : uint8_t {
    kHold,     // sent after `amount` ms
    kSilence,  // the reply and all later output are never sent
    kTrickle,  // `amount` bytes per second
    kCut,      // `amount` bytes are sent, then the connection ends
    kReplace,  // `text` is sent instead
  };
  Kind kind;
  int64_t amount = 0;
  std::string text = {};
  uint64_t owner = 0;  // id for ClientFaults::Release; not 0
};

// Faults that a test has injected for one client (TEST FAULT): a delayed request, and output that is held back. Exists
// only while a fault is active.
struct ClientFaultState {
  std::optional<ReplyFault> pending;  // for the reply to the request that runs or is blocked
  OutputGate gate;
  bool has_delayed = false;  // Session::paused_request waits until delayed_until_ms
  uint64_t delay_owner = 0;
  int64_t delayed_until_ms = 0;  // monotonic

  bool IsOver() const { return !pending && !has_delayed && gate.IsOpen(); }
  int64_t NextDueMs() const {
    const int64_t output_ms = gate.NextDueMs();
    return has_delayed && delayed_until_ms < output_ms ? delayed_until_ms : output_ms;
  }
  size_t HeldBytes() const {
    return sizeof(ClientFaultState) + gate.HeldBytes() + (pending ? pending->text.capacity() : 0);
  }
};

inline ReplyState::Fate ReplyState::EndCommand() {
  const Fate fate = IsSilent() ? Fate::kDropped : Fate::kSent;
  if (mode_ == Mode::kSkip) {
    mode_ = Mode::kOn;
  } else if (mode_ == Mode::kSkipNext) {
    mode_ = Mode::kSkip;
  }
  return fate;
}

}  // namespace respite
