// HelloProtocol: messages by which the Sentinels of a primary find each other, and agree on the primary's address:
//
//   <ip>,<port>,<id>,<current epoch>,<primary>,<its ip>,<its port>,<its config epoch>
//
// A Sentinel publishes the message on the channel __sentinel__:hello of each server and of each other Sentinel. The
// address with the largest config epoch wins.
#pragma once

#include <cstdint>
#include <string>

#include "server/sentinel/instance_list.h"
#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class HelloProtocol {  // lets Sentinels of a primary find each other, and agree on its address
 public:
  static constexpr char kChannel[] = "__sentinel__:hello";  // hello messages are published on this channel

  HelloProtocol(const SentinelCore& core, SentinelEvents& events, InstanceList& list)
      : core_(core), events_(events), list_(list) {}

  // Handles input of the connection that is subscribed to the channel at `instance`: hello messages, and other replies,
  // which only show that the connection works.
  void ReceiveMessage(Instance& instance, const ReplyTree& reply);  // handles a reply on that connection
  void Receive(Bytes message);                                      // handles a hello message; ignores other text
  void Send(Instance& instance);
  void PublishHellosSoon(Primary& primary) const;  // the next tick publishes at all instances of `primary`

 private:
  struct Hello {  // the fields of a hello message
    std::string ip;
    int port;
    std::string id;
    uint64_t current_epoch;    // the current epoch of the sender
    std::string primary_host;  // the address of the primary as the sender knows it
    int primary_port;          // the port of the primary as the sender knows it
    uint64_t config_epoch;     // the epoch of the primary's address
  };

  // Returns whether the addresses, ids and epochs in the message are acceptable. They must be checked because they are
  // written to the configuration file.
  bool IsValid(const Hello& hello) const;          // the fields are acceptable
  PeerSentinel* FindOrAddSender(Primary& primary,  // the Sentinel that has sent the message; null: not added
                                const Hello& hello);
  bool ForgetFormerSentinel(Primary& primary,  // removes one with the same id or address; true: same id
                            const Hello& hello);
  void ApplyEpoch(Primary& primary, uint64_t epoch);  // raises this Sentinel's current epoch, if `epoch` is larger
  void ApplyConfig(Primary& primary, const PeerSentinel& sender, const Hello& hello);  // takes a newer address
  std::string OwnIp(const Instance& instance) const;  // the IP address that this Sentinel announces to `instance`

  const SentinelCore core_;
  SentinelEvents& events_;  // reports events in the log, on channels and to scripts
  InstanceList& list_;
};

}  // namespace respite
