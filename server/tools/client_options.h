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

// The options of respite-cli stand before the command that is sent to the server. Options with the same meaning share
// an entry of `values`: "-a" and "--pass" are stored as "-a", and the last of "--raw", "--no-raw" and "--csv" as
// "format".
struct ClientOptions {                        // the command line of respite-cli
  std::map<std::string, std::string> values;  // the value of each option that was given; for a flag, any text
  ReplyStyle style;                           // how replies are printed
  bool shows_pushes = false;                  // true: RESP3 push messages are printed
  bool speaks_resp3 = false;                  // option -3: sends HELLO 3
  bool fails_on_error = false;                // option -e: an error reply makes the exit code 1
  bool reads_last_argument = false;           // option -x: the last argument comes from standard input
  bool speaks_tls = false;                    // option --tls, or rediss://: the connection uses TLS
  bool is_insecure = false;                   // option --insecure: accepts any certificate of the server
  std::vector<std::string> command;           // the command to send; empty: from standard input or a prompt

  bool Has(const char* option) const { return values.contains(option); }  // this option was given
  std::string Value(const char* option, const char* otherwise) const {    // value given for `option`, or `otherwise`
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

struct ClientExit {   // how respite-cli ends without connecting: help, version or an error
  int code;           // exit code of the process
  std::FILE* output;  // where the text is printed: stdout or stderr
  std::string text;   // the text to print
};
Result<ClientOptions, ClientExit> ReadClientOptions(  // parses the command line; fails with how the program must end
    std::span<const std::string> arguments);

}  // namespace respite
