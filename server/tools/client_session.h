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

class ClientConnection {  // a connection, and the replies on it
 public:
  explicit ClientConnection(ClientStream stream) : stream_(std::move(stream)) {}

  bool Send(const std::vector<std::string>& words);
  // Returns nullopt if the connection has ended, Ctrl-C was pressed, or the bytes are no reply (see Error).
  std::optional<ReplyTree> Receive();
  // Returns whether the server has closed the connection while no reply was awaited.
  bool HasEnded() const { return stream_.HasEnded(); }
  int FileDescriptor() const { return stream_.FileDescriptor(); }  // file descriptor
  std::string Error() const;                                       // why Receive returned nullopt

 private:
  ClientStream stream_;
  ReplyTreeParser parser_;
};

// The connection to the server, with the state that a new connection must restore: user, protocol, database.
class ClientSession {
 public:
  // Takes the password from the environment if the options have none. Keeps the reference to `options`.
  ClientSession(ClientOptions& options, bool reads_lines);

  bool Connect();  // false: an error was printed
  // Changes the server. Prints a message if the server does not answer.
  void ConnectTo(const std::string& host, const std::string& port);
  // Sends the command and prints the reply. Returns the exit code: 0 if there was a reply, except for an error with -e.
  int Run(const std::vector<std::string>& words);
  std::string Prompt() const;  // "127.0.0.1:6379[1]> "

 private:
  Result<ClientStream, std::string> ConnectStream() const;
  bool SendHandshake();  // sends AUTH, HELLO and SELECT
  bool SendHandshakeCommand(const std::vector<std::string>& request,
                            const std::string& title);  // prints an error reply
  std::string Address() const;                          // HOST:PORT of the options
  std::optional<ReplyTree> ReceiveReply();              // prints pushed messages before it
  int Lost(const std::vector<std::string>& words);
  void Print(const ReplyTree& reply, const std::vector<std::string>& words) const;  // `words`: the command
  int PrintUntilInterrupted(const std::vector<std::string>& words);                 // prints messages until Ctrl-C
  void RememberState(const std::vector<std::string>& words,
                     const ReplyTree& reply);              // login, protocol, database, transaction
  void RememberLogin(std::span<const std::string> words);  // of AUTH or HELLO
  void DropConnection();                                   // closes it, and ends the transaction

  ClientOptions& options_;
  const bool reads_lines_;                      // commands come from standard input or the prompt
  std::optional<ClientConnection> connection_;  // nullopt: not connected
  std::string database_;                        // of the last SELECT
  bool is_in_transaction_ = false;
  std::optional<std::string> queued_database_;  // of a SELECT that waits for EXEC
};

}  // namespace respite
