#include "server/commands/sorted_sets/sorted_set_words.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/catalogue/dialect.h"
#include "server/commands/delete_key.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kScoreRange[] = "ERR min or max is not a float";
constexpr char kLexRange[] = "ERR min or max not valid string range item";

}  // namespace
}  // namespace refusals

namespace {

// Parses an end of a range of scores as Redis does (strtod): accepts leading blanks and hexadecimal numbers, reads an
// empty word as 0, and very large numbers as infinity. Some emulated versions accept no leading blanks or hexadecimal
// numbers. Throws a Refusal for other text.
double ParseScoreEnd(Bytes word, const Call& call) {
  const bool is_strict = call.services.env.dialect.traits.scores_in_ranges_are_decimal && !call.unit.IsReplaying();
  if (is_strict && !IsDecimal(word)) throw Refusal{refusals::kScoreRange};
  if (const auto score = ParseDouble(word)) return *score;
  const std::string text(word);
  char* end = nullptr;
  const double score = std::strtod(text.c_str(), &end);
  if (*end != '\0' || std::isnan(score)) throw Refusal{refusals::kScoreRange};
  return score;
}

LexEnd ParseLexEnd(Bytes word) {
  const bool alone = word.size() == 1 || (word.size() > 1 && word[1] == '\0');  // Redis: stops at a NUL
  if (word.starts_with('(')) return {LexEnd::Kind::kExcluded, word.substr(1)};
  if (word.starts_with('[')) return {LexEnd::Kind::kIncluded, word.substr(1)};
  if (word.starts_with('+') && alone) return {LexEnd::Kind::kHighest};
  if (word.starts_with('-') && alone) return {LexEnd::Kind::kLowest};
  throw Refusal{refusals::kLexRange};
}

}  // namespace

double ParseNewScore(Bytes word, const Call& call) {
  const bool is_strict = call.services.env.dialect.traits.new_scores_are_decimal && !call.unit.IsReplaying();
  if (is_strict && !IsDecimal(word)) throw Refusal{refusals::kNotFloat};
  return Args::Double(word);
}

ScoreRange ParseScoreRange(Bytes min, Bytes max, const Call& call) {
  ScoreRange range;
  range.excludes_min = min.starts_with('(');
  range.excludes_max = max.starts_with('(');
  range.min = ParseScoreEnd(min.substr(range.excludes_min ? 1 : 0), call);
  range.max = ParseScoreEnd(max.substr(range.excludes_max ? 1 : 0), call);
  return range;
}

bool IsDecimal(Bytes word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  const bool is_hexadecimal = word.size() > 1 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  return !is_hexadecimal && (word.empty() || std::isspace(static_cast<unsigned char>(word[0])) == 0);
}

bool IsPlainScoreEnd(Bytes word) {
  if (word.starts_with('(')) word.remove_prefix(1);
  return IsDecimal(word) && ParseDouble(word).has_value();
}

std::string LowerEndText(const ScoreRange& range) { return (range.excludes_min ? "(" : "") + DoubleText(range.min); }
std::string UpperEndText(const ScoreRange& range) { return (range.excludes_max ? "(" : "") + DoubleText(range.max); }

LexRange ParseLexRange(Bytes min, Bytes max) { return {ParseLexEnd(min), ParseLexEnd(max)}; }

namespace {

void StoreEntry(Call& call, Bytes key, EntryPtr entry, const KeyEvent& event) {
  const auto size = static_cast<int64_t>(call.db.View<SortedSet>(entry.get()).Size());
  StoreOrDelete(call, key, size > 0 ? std::move(entry) : nullptr, event);
  call.reply.Integer(size);
}

void RecordSortedSet(Call& call, Bytes key, const SortedSet& set) {
  constexpr size_t kPerCommand = 1000;
  if (!call.effect.IsRecording()) return;
  call.effect.Replace("DEL", key);
  for (size_t first = 0; first < set.Size(); first += kPerCommand) {
    std::vector<std::string> words = {"ZADD", std::string(key)};
    set.ForEach({first, std::min(kPerCommand, set.Size() - first)}, Direction::kUp, [&](Bytes member, double score) {
      words.push_back(DoubleText(score));
      words.emplace_back(member);
    });
    call.effect.Replace(words);
  }
}

}  // namespace

void StoreSortedSet(Call& call, Bytes key, ScoredResult& result, const KeyEvent& event) {
  StoreEntry(call, key, result.MakeSortedSetEntry(key, call.db.Limits(), call.db.NewKeyUsage()), event);
}

void StoreAndRecordSortedSet(Call& call, Bytes key, ScoredResult& result, const KeyEvent& event) {
  EntryPtr entry = result.MakeSortedSetEntry(key, call.db.Limits(), call.db.NewKeyUsage());
  RecordSortedSet(call, key, call.db.View<SortedSet>(entry.get()));
  StoreEntry(call, key, std::move(entry), event);
}

}  // namespace respite
