// ClientSession: the connection of respite-cli to a server. It sends commands, prints the replies, and connects again
// when the connection is lost.
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
  // Returns nullopt if the connection has ended, Ctrl-C was pressed, or the bytes are no reply.
  std::optional<ReplyTree> Receive();  // waits for a reply; nullopt: see Error()
  // Call HasEnded only while no reply is awaited.
  bool HasEnded() const { return stream_.HasEnded(); }             // the server has closed the connection
  int FileDescriptor() const { return stream_.FileDescriptor(); }  // the descriptor of the socket
  std::string Error() const;                                       // why Receive returned nullopt

 private:
  ClientStream stream_;     // the socket, with or without TLS
  ReplyTreeParser parser_;  // parses the received bytes
};

// If the connection is lost, makes a new one with the same user, protocol and database.
class ClientSession {  // connects to a server, and restores its state after a lost connection
 public:
  // If the options contain no password, takes it from the environment. `options` must outlive this object.
  ClientSession(ClientOptions& options, bool reads_lines);

  bool Connect();  // connects and logs in; false: an error was printed
  // Connects to another server. Prints a message if that server cannot be reached.
  void ConnectTo(const std::string& host, const std::string& port);  // changes the server and connects to it
  // The exit code is 0 if there was a reply. With -e, an error reply makes it 1.
  int Run(const std::vector<std::string>& words);  // sends a command and prints the reply; returns the exit code
  std::string Prompt() const;                      // text to print before a line, such as "127.0.0.1:6379[1]> "

 private:
  Result<ClientStream, std::string> ConnectStream() const;  // the error says why no server answers
  bool SendHandshake();  // sends AUTH, HELLO and SELECT; false: the connection is lost
  bool SendHandshakeCommand(const std::vector<std::string>& request,  // false: the connection is lost
                            const std::string& title);                // prints an error reply after `title`
  std::string Address() const;                                        // HOST:PORT of the options
  std::optional<ReplyTree> ReceiveReply();  // waits for a reply, printing pushes before it; nullopt: failed
  int HandleLostConnection(const std::vector<std::string>& words);  // prints the error; returns the command's exit code
  void Print(const ReplyTree& reply, const std::vector<std::string>& words) const;  // prints the reply to `words`
  int PrintUntilInterrupted(const std::vector<std::string>& words);                 // prints messages until Ctrl-C
  void RememberState(const std::vector<std::string>& words,  // after a command: keeps what the prompt shows
                     const ReplyTree& reply);                // keeps login, protocol, database, transaction
  void RememberLogin(std::span<const std::string> words);    // keeps the user and the password of AUTH or HELLO
  void DropConnection();                                     // closes the connection, and forgets the transaction

  ClientOptions& options_;                      // the command line; ConnectTo changes its host and port
  const bool reads_lines_;                      // commands come from standard input or the prompt, not from arguments
  std::optional<ClientConnection> connection_;  // connection to the server; nullopt: not connected
  std::string database_;                        // argument of the last successful SELECT
  bool is_in_transaction_ = false;              // after MULTI, before EXEC or DISCARD
  std::optional<std::string> queued_database_;  // argument of a SELECT that waits for EXEC; nullopt: none
};

}  // namespace respite
