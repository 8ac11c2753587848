// The command line of respite-cli. It has the options of redis-cli.
#pragma once

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/tools/client_reply_text.h"

namespace respite {

// The options of the command line, and the command after them.
struct ClientOptions {
  std::map<std::string, std::string> values;  // by option; the value of a flag is its name
  ReplyStyle style;                           // how replies are printed
  bool shows_pushes = false;                  // prints RESP3 push messages
  bool speaks_resp3 = false;                  // -3: sends HELLO 3
  bool fails_on_error = false;                // -e: an error reply means failure
  bool reads_last_argument = false;           // -x: from standard input
  bool speaks_tls = false;                    // --tls
  bool is_insecure = false;                   // --insecure: accepts any certificate
  std::vector<std::string> command;           // with its arguments; empty: read from standard input

  bool Has(const char* option) const { return values.contains(option); }
  std::string Value(const char* option, const char* otherwise) const {  // `otherwise`: if it was not given
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

// Why the program ends without a connection: it prints its help or version, or an error.
struct ClientExit {
  int code;
  std::FILE* output;  // stdout or stderr
  std::string text;
};
Result<ClientOptions, ClientExit> ReadClientOptions(std::span<const std::string> arguments);

}  // namespace respite
