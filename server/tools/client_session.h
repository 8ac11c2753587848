// ClientSession: the connection of respite-cli to a server. It sends commands, prints the replies, and reconnects when
// the connection is lost.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/reply_tree.h"
#include "server/net/tls/client_stream.h"
#include "server/tools/client_options.h"
#include "server/tools/client_reply_text.h"

namespace respite {

// A connection, and the replies that arrive on it.
class ClientConnection {
 public:
  explicit ClientConnection(ClientStream stream) : stream_(std::move(stream)) {}

  bool Send(const std::vector<std::string>& words);
  // Returns nullopt if the connection has ended, Ctrl-C was pressed, or the bytes are no reply (see Error).
  std::optional<ReplyTree> Receive();
  // Returns whether the server has closed the connection while no reply was awaited.
  bool HasEnded() const { return stream_.HasEnded(); }
  int SocketNumber() const { return stream_.SocketNumber(); }
  // Returns why Receive returned nullopt.
  std::string Error() const;

 private:
  ClientStream stream_;
  ReplyTreeParser parser_;
};

// The connection to the server, with the state that a new connection must restore: user, protocol, database.
class ClientSession {
 public:
  // Takes the password from the environment if the options have none. Keeps the reference to `options`.
  ClientSession(ClientOptions& options, bool reads_lines);

  // Returns false after printing an error message.
  bool Connect();
  // Changes the server. Prints a message if the server does not answer.
  void ConnectTo(const std::string& host, const std::string& port);
  // Sends the command and prints the reply. Returns the exit code: 0 if there was a reply, except for an error with -e.
  int Run(const std::vector<std::string>& words);
  std::string Prompt() const;

 private:
  Result<ClientStream, std::string> Dial() const;
  bool Introduce();
  bool IntroduceWith(const std::vector<std::string>& request, const std::string& title);
  std::string Address() const;
  std::optional<ReplyTree> Answer();
  int Lost(const std::vector<std::string>& words);
  void Print(const ReplyTree& reply, const std::vector<std::string>& words) const;
  int Listen(const std::vector<std::string>& words);
  void Learn(const std::vector<std::string>& words, const ReplyTree& reply);
  void LearnLogin(std::span<const std::string> words);
  void Forget();

  ClientOptions& options_;
  const bool reads_lines_;
  std::optional<ClientConnection> connection_;
  std::string database_;
  bool is_in_transaction_ = false;
  std::optional<std::string> queued_database_;  // of a SELECT that waits for EXEC
};

}  // namespace respite
