#include "server/lab/request_text.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/str_cat.h"
#include "server/catalogue/command_table.h"

namespace respite {

namespace {

// Returns how many first words of a request, with the command's name, cannot be secrets; kAllWords: all of them. For a
// command with subcommands, returns the smallest number of any of them.
size_t PublicWordsOf(const Command& command) {
  size_t least = command.Spec().public_words;
  for (const Command& subcommand : command.subcommands) {
    least = std::min<size_t>(least, subcommand.Spec().public_words);
  }
  return least;
}

}  // namespace

size_t NonSecretArgumentCount(const CommandTable& commands, const Command* command, std::span<const Bytes> words) {
  const Command* const named = command != nullptr || words.empty() ? command : commands.Find(words[0]);
  const size_t public_words = named == nullptr ? CommandSpec::kAllWords : PublicWordsOf(*named);
  return public_words == CommandSpec::kAllWords ? SIZE_MAX : public_words;
}

std::string ConditionText(std::span<const Bytes> words) {
  constexpr size_t kBytes = 128;  // limit for one word
  std::string line;
  for (const Bytes word : words) {
    if (!line.empty()) line += ' ';
    line += QuotedIfNeeded(word.substr(0, kBytes));
    if (word.size() > kBytes) line += "...";
  }
  return line;
}

std::string RequestText(std::span<const Bytes> words, size_t hidden_from) {
  constexpr size_t kWords = 12;
  constexpr size_t kBytes = 48;  // limit for one word
  std::string line;
  for (size_t i = 0; i < std::min(words.size(), kWords); ++i) {
    if (i != 0) line += ' ';
    if (i >= hidden_from) {
      line += "(redacted)";
      continue;
    }
    line += QuotedIfNeeded(words[i].substr(0, kBytes));
    if (words[i].size() > kBytes) line += "...";
  }
  if (words.size() > kWords) StrAppend(line, " ... (", words.size() - kWords, " more words)");
  return line;
}

}  // namespace respite
