// HelloProtocol: messages by which the Sentinels of a primary find each other, and agree on the primary's address:
//
//   <ip>,<port>,<id>,<current epoch>,<primary>,<its ip>,<its port>,<its config epoch>
//
// A Sentinel publishes the message on the channel __sentinel__:hello of each server, and at the other Sentinels. The
// address with the highest config epoch wins.
#pragma once

#include <cstdint>
#include <string>

#include "server/sentinel/instance_list.h"
#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class HelloProtocol {
 public:
  static constexpr char kChannel[] = "__sentinel__:hello";

  HelloProtocol(const SentinelCore& core, SentinelEvents& events, InstanceList& list)
      : core_(core), events_(events), list_(list) {}

  // Handles a message, or another reply, of the subscription at `instance`.
  void ReceiveMessage(Instance& instance, const ReplyTree& reply);
  // Handles a hello message; ignores other text.
  void Receive(Bytes message);
  void Send(Instance& instance);
  // Makes a hello message due with the next tick, at all instances of the primary.
  void Hurry(Primary& primary) const;

 private:
  struct Hello {
    std::string ip;
    int port;
    std::string id;
    uint64_t current_epoch;
    std::string primary_host;
    int primary_port;
    uint64_t config_epoch;
  };

  // Returns whether the message can be believed. The names in it are written to the configuration file.
  bool IsSound(const Hello& hello) const;
  // Finds or adds the sender. Returns null if it cannot be added.
  PeerSentinel* SenderOf(Primary& primary, const Hello& hello);
  // Forgets the Sentinels that had the id or the address before. Returns true if the Sentinel has moved.
  bool MakeRoom(Primary& primary, const Hello& hello);
  void ApplyEpoch(Primary& primary, uint64_t epoch);
  void ApplyConfig(Primary& primary, const PeerSentinel& sender, const Hello& hello);
  std::string OwnIp(const Instance& instance) const;

  const SentinelCore core_;
  SentinelEvents& events_;
  InstanceList& list_;
};

}  // namespace respite
