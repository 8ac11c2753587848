// Turns what COMMAND INFO and COMMAND DOCS reply under RESP3 into the lines of tests/golden/commands_7.2.txt, by the
// same rules as tests/golden/capture.py: one fact per line, no prose.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/catalogue/command_table.h"

namespace respite {

// A decoded RESP3 reply. Arrays, sets and maps all keep their elements in `items`; a map has names and values in turn.
struct Decoded {
  char kind = '_';
  std::string text = {};  // strings, and integers as written
  std::vector<Decoded> items = {};

  // The value of a map's field; null when it has no such field.
  const Decoded* Field(std::string_view name) const;
};

Decoded DecodeResp3(std::string_view reply);

// All facts about this command and its subcommands.
std::set<std::string> FactsOf(const Command& command);

// "sub" of "client|kill arity=-3" is "client|kill".
std::string_view CommandOfFact(std::string_view fact);

// The lines of a file below tests/golden.
std::vector<std::string> GoldenLines(const std::string& file);

}  // namespace respite
