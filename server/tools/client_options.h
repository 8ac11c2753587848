// The command line of respite-cli, which has the options of redis-cli.
#pragma once

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/tools/client_reply_text.h"

namespace respite {

// On the command line, the options stand before the command.
struct ClientOptions {                        // the command line of respite-cli
  std::map<std::string, std::string> values;  // options with their values; the value of a flag is the flag itself
  ReplyStyle style;                           // how replies are printed
  bool shows_pushes = false;                  // RESP3 push messages are printed
  bool speaks_resp3 = false;                  // -3: the client sends HELLO 3
  bool fails_on_error = false;                // -e: an error reply makes the exit code 1
  bool reads_last_argument = false;           // -x: the last argument comes from standard input
  bool speaks_tls = false;                    // --tls: the connection uses TLS
  bool is_insecure = false;                   // --insecure: any certificate of the server is accepted
  std::vector<std::string> command;  // the command with its arguments; empty: commands come from standard input

  bool Has(const char* option) const { return values.contains(option); }  // the command line has this option
  std::string Value(const char* option, const char* otherwise) const {    // value of an option, or `otherwise`
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

// Why the program ends without connecting: to print its help, its version or an error.
struct ClientExit {   // why and how respite-cli ends without a connection
  int code;           // exit code
  std::FILE* output;  // where the text is printed: stdout or stderr
  std::string text;
};
Result<ClientOptions, ClientExit> ReadClientOptions(std::span<const std::string> arguments);  // or why to end

}  // namespace respite
