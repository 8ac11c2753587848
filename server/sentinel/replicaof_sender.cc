#include "server/sentinel/replicaof_sender.h"

namespace respite {

void ReplicaofSender::Follow(ServerInstance& server, const SentinelAddress& primary) const {
  SendReplicaof(server, core_.state.HostToAnnounce(primary), std::to_string(primary.port));
}

void ReplicaofSender::FollowNoOne(ServerInstance& server) const { SendReplicaof(server, "NO", "ONE"); }

// Sends REPLICAOF in a transaction. Does nothing without a connection to the server. The transaction also saves the new
// role in the server's configuration file. It disconnects the server's clients, so that no client relies on the former
// role.
void ReplicaofSender::SendReplicaof(ServerInstance& server, const std::string& host, const std::string& port) {
  if (!server.link->HasCommandConnection()) return;
  const auto send = [&server](std::initializer_list<Bytes> words) {
    server.link->command_connection->Send(server, words, {});
  };
  const Bytes client = CommandOf(server, "CLIENT");
  send({CommandOf(server, "MULTI")});
  send({CommandOf(server, "SLAVEOF"), host, port});
  send({CommandOf(server, "CONFIG"), "REWRITE"});
  send({client, "KILL", "TYPE", "normal"});
  send({client, "KILL", "TYPE", "pubsub"});
  send({CommandOf(server, "EXEC")});
}

}  // namespace respite
