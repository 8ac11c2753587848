// FakeNetwork: a network in memory between several TestServers of one process.
//
//   FakeNetwork network(seed);
//   network.Attach(primary, 7001);
//   network.Attach(replica, 7002);
//   client_of_replica.Run("REPLICAOF 127.0.0.1 7001");
//   network.Run();                        // until nothing moves any more; no time passes
//   network.Step(1000);                   // a second passes for all servers, with their timers
//
// A Dial to "127.0.0.1:7001" makes a Link at the server that dials, and a Session at the server that listens. A port at
// which a server listens with Network::Listen, as the bus of a cluster does, takes Links. Bytes travel in Run and Step
// only, in random pieces, in random order between connections. Whoever owns a server detaches it before it is
// destroyed.
//
// Faults: a connection breaks at a given byte, is silent (half open), or is lost at once; servers are apart (nothing
// arrives, connecting takes forever, and what was sent arrives when they come together again); dials are refused.
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

  // The server listens at this port of 127.0.0.1, and dials from it.
  void Attach(TestServer& server, int port);
  // All its connections are lost. Harmless if it is not attached.
  void Detach(TestServer& server);

  // Moves bytes, opens connections and reads pipes until nothing moves any more.
  void Run();
  // The same, once: false if nothing moved.
  bool RunOnce();
  // Lets time pass for all servers, in steps of a tick of their timers, and runs.
  void Step(int64_t elapsed_ms);
  // Since the beginning.
  int64_t NowMs() const { return now_ms_; }
  // Called between two movements of Run.
  void OnMove(std::function<void()> handler) { on_move_ = std::move(handler); }

  // --- Faults.

  // Bytes arrive so much later than they were sent.
  void SetDelay(int64_t delay_ms) { delay_ms_ = delay_ms; }
  // The largest piece that arrives at once; 1: byte by byte.
  void SetPiece(size_t bytes) { piece_ = bytes; }
  // What one side may have sent that has not arrived yet, before it must wait.
  void SetWindow(size_t bytes) { window_ = bytes; }
  // Breaks the connections between these two; a server that only the network knows counts, too.
  void Break(int port, int other_port);
  // The next connection to this port breaks when so many bytes have arrived from there.
  void BreakNextAfter(int port, uint64_t bytes) { break_next_[port] = bytes; }
  // Nothing arrives on the connections that there are now, and nobody is told.
  void Silence(int port, int other_port);
  void SetApart(int port, int other_port);
  void SetTogether(int port, int other_port);
  void SetAllTogether() { apart_.clear(); }
  // Whether those who dial this port are refused.
  void Refuse(int port) { refusing_.insert(port); }
  void Accept(int port) { refusing_.erase(port); }

  // Bytes that have arrived from `port` at `dialer` on the current connection, since it was made.
  std::string Received(int dialer, int port) const;
  // Bytes that `dialer` has sent to `port` on it.
  std::string Sent(int dialer, int port) const;
  // Connections that are open.
  size_t Connections() const;
  // Dials so far.
  int Dials() const { return dials_; }

  // --- A peer without a server: the test itself listens.

  // What has arrived from those who dialed this port, and what the test answers.
  struct Stranger {
    std::string received;
    int connections = 0;
  };
  // Requires: nobody is attached at this port.
  Stranger& Listen(int port);
  // Sends to the one that dialed last.
  void SendAs(int port, Bytes bytes);
  // Ends that connection.
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
    std::string arrived;  // all of them
  };
  using Pair = std::pair<int, int>;

  // Where a server takes Links.
  struct Door {
    int owner;  // its port for clients
    Network::Acceptor* acceptor;
  };

  static Pair PairOf(int one, int other) { return {std::min(one, other), std::max(one, other)}; }
  bool AreApart(const LinkConnection& wire) const;
  // The server that listens there for clients, or for links.
  TestServer* ServerAt(int port) const;
  // The port for clients of the server that listens here.
  int HomeOf(int port) const;
  Pair EndsOf(const LinkConnection& wire) const;
  void Put(Lane& lane, Bytes bytes);
  // Takes a random piece of what is due; empty: nothing is.
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
  int dials_ = 0;
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
