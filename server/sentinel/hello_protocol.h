// HelloProtocol: the messages by which Sentinels of the same primary find each other, and agree on where it is:
//
//   <ip>,<port>,<id>,<current epoch>,<primary>,<its ip>,<its port>,<its config epoch>
//
// A Sentinel publishes one on the channel __sentinel__:hello of each server, and at the other Sentinels. The address
// with the highest config epoch counts.
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

  // Of a subscription of `instance`: a message, or something else.
  void ReceiveMessage(Instance& instance, const ReplyTree& reply);
  // Requires: what comes in is a hello message, or is ignored.
  void Receive(Bytes message);
  void Send(Instance& instance);
  // Everybody hears of the primary with the next tick.
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

  // Null: there is none, and none can be made.
  // Whether it can be believed: what it names goes into the file.
  bool IsSound(const Hello& hello) const;
  PeerSentinel* SenderOf(Primary& primary, const Hello& hello);
  // Those who had the id or the address before are forgotten. True: the Sentinel has moved.
  bool MakeRoom(Primary& primary, const Hello& hello);
  void ApplyEpoch(Primary& primary, uint64_t epoch);
  void ApplyConfig(Primary& primary, const PeerSentinel& sender, const Hello& hello);
  std::string OwnIp(const Instance& instance) const;

  const SentinelCore core_;
  SentinelEvents& events_;
  InstanceList& list_;
};

}  // namespace respite
