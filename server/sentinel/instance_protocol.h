// InstanceProtocol: keeps the links to instances open, and sends PING, INFO and hello messages when they are due.
#pragma once

#include "server/sentinel/hello_protocol.h"
#include "server/sentinel/info_reader.h"
#include "server/sentinel/sentinel_core.h"

namespace respite {

class InstanceProtocol {  // keeps links open, and sends PING, INFO and hello messages
 public:
  InstanceProtocol(const SentinelCore& core, HelloProtocol& hello_protocol, InfoReader& reader)
      : core_(core), hello_protocol_(hello_protocol), reader_(reader) {}

  void Continue(Instance& instance);  // connects, and sends what is due; called by the timer

 private:
  void Reconnect(Instance& instance);                                  // makes connections that are missing
  void OpenCommandConnection(Instance& instance);                      // connects for commands, logs in, sends PING
  void OpenHelloConnection(Instance& instance);                        // connects, and subscribes to hello messages
  void ReceiveSubscribed(Instance& instance, const ReplyTree& reply);  // handles the reply to SUBSCRIBE; error: closes
  Link::Target TargetOf(const Instance& instance) const;               // host, port and TLS to connect with
  void Authenticate(const Instance& instance, InstanceConnection& connection) const;  // sends AUTH, if needed
  void SetName(const Instance& instance, InstanceConnection& connection, const char* role) const;  // CLIENT SETNAME
  void SendDue(Instance& instance);   // sends INFO, PING, hello message, if due and connected
  void SendPing(Instance& instance);  // sends PING; ReceivePingReply handles the reply
  void ReceivePingReply(Instance& instance, const ReplyTree& reply);  // handles any reply to PING
  void SendInfoIfDue(ServerInstance& server);                // sends INFO if it is due; InfoReader handles the reply
  int64_t InfoPeriodMs(const ServerInstance& server) const;  // time between two INFO; less for replicas in a failover

  const SentinelCore core_;
  HelloProtocol& hello_protocol_;  // sends and handles hello messages
  InfoReader& reader_;             // handles replies to INFO
};

}  // namespace respite
