// Data sets as commands, as in the base of an append-only file.
#pragma once

#include <string>
#include <vector>

#include "tests/support/test_server.h"

namespace respite {

using WordList = std::vector<std::string>;

// The commands that a rewrite of this server's data writes.
std::vector<WordList> RewriteCommands(Node& server);

// Runs commands again that were accepted before, as loading an append-only file does; each must be accepted.
void RepeatRecord(TestServer& server, const std::vector<WordList>& commands);

// Runs the commands of a rewrite on a server with another seed, on which nothing expires. The data must be the same,
// including the metadata of streams.
void ExpectRewriteMatches(TestServer& server);

}  // namespace respite
