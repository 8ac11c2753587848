// HelloProtocol: messages by which the Sentinels of a primary find each other, and agree on the primary's address:
//
//   <ip>,<port>,<id>,<current epoch>,<name of the primary>,<its ip>,<its port>,<its config epoch>
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

class HelloProtocol {  // by hello messages, Sentinels find each other, and agree on primaries' addresses
 public:
  static constexpr char kChannel[] = "__sentinel__:hello";  // the channel for hello messages

  HelloProtocol(const SentinelCore& core, SentinelEvents& events, InstanceList& list)
      : core_(core), events_(events), list_(list) {}

  // Handles input of the connection that has subscribed to kChannel at `instance`. Any input, even if it is no hello
  // message, shows that the connection works.
  void ReceiveMessage(Instance& instance, const ReplyTree& reply);  // handles a reply on the subscribed connection
  void Receive(Bytes message);                     // handles a hello message; ignores invalid and own ones
  void Send(Instance& instance);                   // publishes a hello message at the instance, if connected
  void PublishHellosSoon(Primary& primary) const;  // the next tick publishes at all instances of `primary`

 private:
  struct Hello {  // the fields of a hello message
    std::string ip;
    int port;
    std::string id;
    uint64_t current_epoch;    // the largest epoch that the sender knows
    std::string primary_host;  // host or IP of the primary, as the sender knows it
    int primary_port;          // port of the primary, as the sender knows it
    uint64_t config_epoch;     // epoch of the failover that has set the primary's address
  };

  // Returns true if addresses, id and epochs are acceptable. Must be called before they are used, because they are
  // written to sentinel.conf.
  bool IsValid(const Hello& hello) const;          // true: addresses, id and epochs are acceptable
  PeerSentinel* FindOrAddSender(Primary& primary,  // finds or adds the Sentinel that sent the message; null: not added
                                const Hello& hello);
  // Removes the entry with the sender's id from this primary, and returns true: the Sentinel has moved. If there is
  // none, removes the Sentinel that was known at the sender's address from all primaries, and returns false. Requires:
  // the sender is not known with this id and this address.
  bool ForgetFormerSentinel(Primary& primary,  // true: removed the entry of the sender; false: it had none
                            const Hello& hello);
  void ApplyEpoch(Primary& primary, uint64_t epoch);  // raises this Sentinel's current epoch, if `epoch` is larger
  void ApplyConfig(Primary& primary, const PeerSentinel& sender, const Hello& hello);  // takes a newer primary address
  std::string OwnIp(const Instance& instance) const;  // the IP that this Sentinel announces to `instance`

  const SentinelCore core_;
  SentinelEvents& events_;  // reports events in the log, on channels and to scripts
  InstanceList& list_;
};

}  // namespace respite
