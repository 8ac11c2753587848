// ClientSession: the connection of respite-cli to a server. It sends commands and prints the replies. After a lost
// connection, the next command connects again.
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

class ClientConnection {  // one connection to the server, and a parser of its replies
 public:
  explicit ClientConnection(ClientStream stream) : stream_(std::move(stream)) {}

  bool Send(const std::vector<std::string>& words);  // sends a command; false: the connection is lost
  // Waits for a reply. Returns nullopt if the connection has ended (also by Ctrl-C), or if the bytes are not RESP.
  std::optional<ReplyTree> Receive();  // waits for a reply; nullopt: Error() says why there is none
  // Requires: no reply is awaited.
  bool HasEnded() const { return stream_.HasEnded(); }             // true: the server has disconnected
  int FileDescriptor() const { return stream_.FileDescriptor(); }  // the socket
  std::string Error() const;                                       // why Receive returned nullopt

 private:
  ClientStream stream_;     // the socket, with or without TLS
  ReplyTreeParser parser_;  // turns the received bytes into replies
};

// A session sends commands to a server and prints the replies. Run makes a new connection, with the same user, protocol
// and database, if the last one was lost. After a loss within a transaction, the next Run only reports the loss,
// because its command must not run outside the transaction.
class ClientSession {  // sends commands, prints replies; reconnects after a lost connection
 public:
  // Takes the password from the environment (REDISCLI_AUTH) if the options contain none. `options` must outlive this
  // object.
  ClientSession(ClientOptions& options, bool reads_lines);

  bool Connect();  // connects, logs in, and prints errors; false: there is no connection
  // Prints an error if the other server cannot be reached.
  void ConnectTo(const std::string& host, const std::string& port);  // connects to another server
  // Sends a command and prints the reply. Returns the exit code: 0 if a reply came or if SHUTDOWN ended the connection,
  // otherwise 1. With the option -e, an error reply also gives 1. After SUBSCRIBE or MONITOR outside of a transaction,
  // prints messages until an error reply, which gives 0 (1 with -e), or until Ctrl-C or the end of the connection,
  // which give 1.
  int Run(const std::vector<std::string>& words);  // sends a command, prints the reply; returns the exit code
  std::string Prompt() const;                      // text of the prompt: "127.0.0.1:6379[1]> "

 private:
  Result<ClientStream, std::string> ConnectStream() const;  // connects, with TLS if wanted; fails with an error text
  bool SendHandshake();  // sends AUTH, HELLO, SELECT as needed; false: the connection is lost
  bool SendHandshakeCommand(const std::vector<std::string>& request,  // sends one request; false: connection lost
                            const std::string& title);                // prints an error reply after `title`
  std::string Address() const;                                        // HOST:PORT of the server
  std::optional<ReplyTree> ReceiveReply();  // waits for a reply; may print pushes that come before; nullopt: none came
  int HandleLostConnection(const std::vector<std::string>& words);  // prints why; after Ctrl-C, connects again
  void Print(const ReplyTree& reply, const std::vector<std::string>& words) const;  // prints the reply to `words`
  int PrintUntilInterrupted(const std::vector<std::string>& words);  // prints messages until Ctrl-C or the end
  // After the reply to a command: notes if the command has changed the login, the protocol version, the selected
  // database or the transaction of this connection.
  void RememberState(const std::vector<std::string>& words,  // notes changes of login, database, MULTI …
                     const ReplyTree& reply);
  void RememberLogin(std::span<const std::string> words);  // notes user and password of AUTH or HELLO
  void DropConnection();                                   // closes the connection, and forgets the transaction

  ClientOptions& options_;                      // the command line; ConnectTo and logins change it
  const bool reads_lines_;                      // true: commands are read from standard input or a prompt
  std::optional<ClientConnection> connection_;  // the connection to the server; nullopt: not connected
  std::string database_;                        // database that -n or the last SELECT has selected, as text
  bool is_in_transaction_ = false;              // true: after MULTI, before EXEC or DISCARD
  std::optional<std::string> queued_database_;  // database of a SELECT that waits for EXEC; nullopt: none
};

}  // namespace respite
