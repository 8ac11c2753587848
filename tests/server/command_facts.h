// Converts RESP3 replies of COMMAND INFO and COMMAND DOCS into the lines of tests/golden/commands_7.2.txt, by the same
// rules as tests/golden/capture.py: one fact per line, without descriptions.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/catalogue/command_table.h"

namespace respite {

// A decoded RESP3 reply. `items` are the elements of arrays, sets and maps; in a map, names and values alternate.
struct Decoded {
  char kind = '_';
  std::string text = {};  // strings as they are, integers as text
  std::vector<Decoded> items = {};

  // The value of a map's field, or null if it has no such field.
  const Decoded* Field(std::string_view name) const;
};

Decoded DecodeResp3(std::string_view reply);

// All facts about this command and its subcommands.
std::set<std::string> FactsOf(const Command& command);

// The name of the command: "client|kill" for "client|kill arity=-3".
std::string_view CommandOfFact(std::string_view fact);

// The lines of a file in tests/golden.
std::vector<std::string> GoldenLines(const std::string& file);

}  // namespace respite
