// FakeNetwork: a network in memory between several TestServers of one process.
//
//   FakeNetwork network(seed);
//   network.Attach(primary, 7001);
//   network.Attach(replica, 7002);
//   client_of_replica.Run("REPLICAOF 127.0.0.1 7001");
//   network.Run();                        // until nothing moves any more; no time passes
//   network.Step(1000);                   // a second passes for all servers, with their timers
//
// A Connect to "127.0.0.1:7001" makes a Link at the server that connects, and a Session at the server that listens.
// A port at which a server listens with Network::Listen, as the bus of a cluster does, takes Links. Bytes travel only
// in Run and Step: in random pieces, and in random order between connections. The owner of a server must detach it
// before destroying it.
//
// Faults: a connection breaks at a given byte, is silent (half open), or is lost immediately. Servers are separated:
// nothing arrives, connecting takes forever, and bytes sent meanwhile arrive after SetTogether. Connections are
// refused.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "server/net/link.h"
#include "tests/support/test_server.h"

namespace respite {

class FakeNetwork {
 public:
  explicit FakeNetwork(uint64_t seed);
  ~FakeNetwork();
  FakeNetwork(const FakeNetwork&) = delete;
  FakeNetwork& operator=(const FakeNetwork&) = delete;

  // Makes the server listen at this port of 127.0.0.1, and connect from it.
  void Attach(TestServer& server, int port);
  // Breaks all connections of the server. Harmless if it is not attached.
  void Detach(TestServer& server);

  // Moves bytes, opens connections and reads pipes until nothing moves any more.
  void Run();
  // Moves everything that can move one time. Returns false if nothing moved.
  bool RunOnce();
  // Lets time pass for all servers, in steps of a tick of their timers, and calls Run after each.
  void Step(int64_t elapsed_ms);
  // Milliseconds since the beginning.
  int64_t NowMs() const { return now_ms_; }
  // Called between two movements of Run.
  void OnMove(std::function<void()> handler) { on_move_ = std::move(handler); }

  // --- Faults.

  // Sets how long bytes take to arrive.
  void SetDelay(int64_t delay_ms) { delay_ms_ = delay_ms; }
  // Sets the largest piece that arrives in one read; 1: byte by byte.
  void SetPiece(size_t bytes) { piece_ = bytes; }
  // Sets how many bytes one side may have in transit before it must wait.
  void SetWindow(size_t bytes) { window_ = bytes; }
  // Breaks the connections between these two ports; each may be a stranger's.
  void Break(int port, int other_port);
  // Breaks the next connection to this port after this number of bytes has arrived from there.
  void BreakNextAfter(int port, uint64_t bytes) { break_next_[port] = bytes; }
  // Drops everything on the current connections between these ports, without telling either side.
  void Silence(int port, int other_port);
  void SetApart(int port, int other_port);
  void SetTogether(int port, int other_port);
  void SetAllTogether() { apart_.clear(); }
  // Sets whether connections to this port are refused.
  void Refuse(int port) { refusing_.insert(port); }
  void Accept(int port) { refusing_.erase(port); }

  // Bytes that have arrived from `port` at `dialer` on the current connection.
  std::string Received(int dialer, int port) const;
  // Bytes that `dialer` has sent to `port` on the current connection.
  std::string Sent(int dialer, int port) const;
  // The number of open connections.
  size_t Connections() const;
  // The number of connections attempted so far.
  int ConnectionAttempts() const { return attempts_; }

  // --- A peer without a server: the test itself listens.

  // The bytes from the peers that connected to a test's port, and the number of their connections.
  struct Stranger {
    std::string received;
    int connections = 0;
  };
  // Requires that no server is attached at this port.
  Stranger& Listen(int port);
  // Sends to the peer that connected last.
  void SendAs(int port, Bytes bytes);
  // Closes the connection of the peer that connected last.
  void HangUpAs(int port);

 private:
  class Port;
  class FakeLink;
  class FarLink;
  class FakeTransport;
  class FakeWatch;
  class FakeListening;
  struct LinkConnection;
  struct Packet {
    int64_t due_ms;
    std::string bytes;
  };
  // One direction of a connection.
  struct Lane {
    std::deque<Packet> packets;
    size_t bytes = 0;     // in packets
    std::string arrived;  // all bytes that have arrived
  };
  using Pair = std::pair<int, int>;

  // A port at which a server takes Links.
  struct Door {
    int owner;  // the owner's port for clients
    Network::Acceptor* acceptor;
  };

  static Pair PairOf(int one, int other) { return {std::min(one, other), std::max(one, other)}; }
  bool AreApart(const LinkConnection& wire) const;
  // The server that listens at this port for clients or for links.
  TestServer* ServerAt(int port) const;
  // The client port of the server that listens here.
  int HomeOf(int port) const;
  Pair EndsOf(const LinkConnection& wire) const;
  void Put(Lane& lane, Bytes bytes);
  // Takes a random piece of the due bytes; empty if none are due.
  std::string Take(Lane& lane, size_t most);
  bool Move(const std::shared_ptr<LinkConnection>& wire);
  bool Connect(const std::shared_ptr<LinkConnection>& wire);
  void Welcome(const std::shared_ptr<LinkConnection>& wire);
  void Receive(LinkConnection& wire, const std::string& piece);
  bool MoveToDialer(LinkConnection& wire);
  bool MoveToListener(LinkConnection& wire);
  bool ReadPipes();
  void EndFor(LinkConnection& wire, const std::string& reason);
  void Lose(LinkConnection& wire);
  std::shared_ptr<LinkConnection> Latest(int dialer, int port) const;

  Random random_;
  int64_t now_ms_ = 0;
  int64_t delay_ms_ = 0;
  size_t piece_ = 4096;
  size_t window_ = SIZE_MAX;
  int attempts_ = 0;
  std::map<int, std::unique_ptr<Port>> ports_;
  std::map<int, Door> doors_;
  std::map<int, Stranger> strangers_;
  std::vector<std::shared_ptr<LinkConnection>> wires_;
  std::vector<FakeWatch*> watches_;
  std::map<int, uint64_t> break_next_;
  std::set<Pair> apart_;
  std::set<int> refusing_;
  std::function<void()> on_move_;
};

}  // namespace respite
