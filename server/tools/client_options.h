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
  ReplyStyle style;
  bool shows_pushes = false;
  bool speaks_resp3 = false;
  bool fails_on_error = false;       // -e: an error reply means failure
  bool reads_last_argument = false;  // -x: from standard input
  bool speaks_tls = false;
  bool is_insecure = false;
  std::vector<std::string> command;

  bool Has(const char* option) const { return values.contains(option); }
  std::string Value(const char* option, const char* otherwise) const {
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

// Why the program ends without a connection: it prints its help or version, or an error.
struct ClientEnd {
  int code;
  std::FILE* output;
  std::string text;
};
Result<ClientOptions, ClientEnd> ReadClientOptions(std::span<const std::string> arguments);

}  // namespace respite
