#include "server/lab/fixture_text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/glob.h"
#include "persistence/value_commands.h"
#include "server/lab/fixture_formats.h"

namespace respite {

namespace {

using Words = std::vector<std::string>;

class TextOutput final : public RequestOutput {
 public:
  std::string& Finish() {
    Flush();
    return text_;
  }

 private:
  void Take(Bytes piece) override { text_ += piece; }

  std::string text_;
};

// Returns the commands that create the key with its value, as a rewrite of the append-only file would write them.
std::vector<Words> CommandsOf(const Entry& entry) {
  TextOutput out;
  WriteValueCommands(out, entry);
  std::vector<Words> commands;
  Fixture fixture = ReadRespFixture(out.Finish()).value();
  for (Fixture::Request& request : fixture.requests) commands.push_back(std::move(request.words));
  return commands;
}

// Merges the commands with indices `from` to `to` - 1 into one, and sorts its set members or hash fields. Sets and
// hashes have no order, so without sorting, equal data could give different text.
Words Sorted(const std::vector<Words>& commands, size_t from, size_t to, size_t words_per_item) {
  std::vector<Words> items;
  for (size_t i = from; i < to; ++i) {
    const Words& words = commands[i];
    for (size_t at = 2; at < words.size(); at += words_per_item) {
      const auto begin = words.begin() + static_cast<ptrdiff_t>(at);
      items.emplace_back(begin, begin + static_cast<ptrdiff_t>(words_per_item));
    }
  }
  std::ranges::sort(items);
  Words line = {commands[from][0] == "HMSET" ? "HSET" : commands[from][0], commands[from][1]};
  for (const Words& item : items) line.insert(line.end(), item.begin(), item.end());
  return line;
}

std::vector<Words> SortedCommands(std::vector<Words> commands) {
  const std::string name = commands[0][0];
  const size_t words_per_item = name == "SADD" ? 1 : 2;
  if (name != "SADD" && name != "HMSET") return commands;
  const auto other = std::ranges::find_if(commands, [&](const Words& words) { return words[0] != name; });
  std::vector<Words> sorted = {Sorted(commands, 0, static_cast<size_t>(other - commands.begin()), words_per_item)};
  for (auto rest = other; rest != commands.end(); ++rest) {
    const bool has_fields = rest->size() > 5 && (*rest)[3] == "FIELDS";
    if (has_fields) std::sort(rest->begin() + 5, rest->end());
  }
  std::sort(other, commands.end());
  sorted.insert(sorted.end(), std::make_move_iterator(other), std::make_move_iterator(commands.end()));
  return sorted;
}

void AppendLine(std::string& text, const Words& words) { text.append(JoinQuoted(words)) += '\n'; }

// Returns whether the key matches the pattern. As in KEYS, the pattern `*` also matches the empty key.
bool MatchesKey(Bytes pattern, Bytes key) { return pattern == "*" || GlobMatch(pattern, key); }

}  // namespace

std::string FixtureText(const Keyspace& keyspace, Bytes pattern, int64_t now_ms) {
  std::string text;
  int selected = 0;
  for (int db = 0; db < keyspace.Count(); ++db) {
    std::map<Bytes, const Entry*> entries;
    keyspace[db].ForEach([&](const Entry* entry) {
      if (!entry->IsExpired(now_ms) && MatchesKey(pattern, entry->Key())) entries.emplace(entry->Key(), entry);
    });
    if (!entries.empty() && db != selected) AppendLine(text, {"SELECT", std::to_string(db)});
    if (!entries.empty()) selected = db;
    for (const auto& [key, entry] : entries) {
      for (const Words& words : SortedCommands(CommandsOf(*entry))) AppendLine(text, words);
    }
  }
  return text;
}

}  // namespace respite
