// Data sets as commands, as the base of an append-only file has them.
#pragma once

#include <string>
#include <vector>

#include "tests/support/test_server.h"

namespace respite {

using WordList = std::vector<std::string>;

// The records of the file that a rewrite of this server's data makes.
std::vector<WordList> RewriteCommands(Node& server);

// Repeats commands that were accepted once, as the loader of an append-only file does; each must be accepted.
void RepeatRecord(TestServer& server, const std::vector<WordList>& commands);

// Repeats those commands on a server with another seed, on which nothing expires; the
// data must come out the same, including what streams remember besides their entries.
void ExpectRewriteMatches(TestServer& server);

}  // namespace respite
