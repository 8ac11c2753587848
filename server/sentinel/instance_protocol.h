// InstanceProtocol: keeps the links to instances open, and sends PING, INFO and hello messages when they are due.
#pragma once

#include "server/sentinel/hello_protocol.h"
#include "server/sentinel/info_reader.h"
#include "server/sentinel/sentinel_core.h"

namespace respite {

class InstanceProtocol {
 public:
  InstanceProtocol(const SentinelCore& core, HelloProtocol& hellos, InfoReader& reader)
      : core_(core), hellos_(hellos), reader_(reader) {}

  // Makes the missing connections, and sends the INFO, PING and hello message that are due. Called by the timer.
  void Continue(Instance& instance);

 private:
  void Reconnect(Instance& instance);
  void DialCommands(Instance& instance);
  void DialHello(Instance& instance);
  void ReceiveSubscribed(Instance& instance, const ReplyTree& reply);
  Link::Target TargetOf(const Instance& instance) const;
  void Authenticate(const Instance& instance, InstanceConnection& connection) const;
  void SetName(const Instance& instance, InstanceConnection& connection, const char* role) const;
  void SendDue(Instance& instance);
  void SendPing(Instance& instance);
  void ReceivePong(Instance& instance, const ReplyTree& reply);
  void AskInfoIfDue(ServerInstance& server);
  int64_t InfoPeriodMs(const ServerInstance& server) const;

  const SentinelCore core_;
  HelloProtocol& hellos_;
  InfoReader& reader_;
};

}  // namespace respite
