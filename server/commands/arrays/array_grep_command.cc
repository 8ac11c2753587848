// ARGREP: searches the elements of an array for texts and patterns.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/glob.h"
#include "base/regular_expression.h"
#include "base/str_cat.h"
#include "server/commands/arrays/array_words.h"
#include "server/commands/families.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kTooManyPredicates[] = "ERR too many predicates, maximum is 250";
constexpr char kExpressionTooLong[] = "ERR regular expression is too long, maximum is 2048 bytes";
constexpr char kExpressionEmpty[] = "ERR regular expression is empty";
constexpr char kTooManySteps[] = "ERR the search takes too long. Use a smaller range or a simpler regular expression";
constexpr char kBackReference[] = "ERR regular expression backreferences are not supported";

Refusal BadExpression(const char* why) { return {StrCat("ERR invalid regular expression: ", why)}; }

}  // namespace
}  // namespace refusals

namespace {

constexpr size_t kMaxPredicates = 250;
constexpr size_t kMaxExpressionBytes = 2048;
// Limits for all regular expressions of one ARGREP together, because the server serves no other client meanwhile.
constexpr size_t kMaxCompiledSize = 8 * RegularExpression::kMaxInstructions;
constexpr uint64_t kMaxSteps = 100'000'000;  // about a second

// Tests whether a text equals a word.
class ExactPredicate {
 public:
  ExactPredicate(Bytes word, CaseMode mode) : word_(word), mode_(mode) {}
  bool Matches(Bytes text) const { return mode_ == CaseMode::kIgnore ? EqualsIgnoreCase(text, word_) : text == word_; }

 private:
  Bytes word_;
  CaseMode mode_;
};

// Tests whether a text contains a word. Takes linear time.
class PartPredicate {
 public:
  PartPredicate(Bytes word, CaseMode mode)
      : word_(mode == CaseMode::kIgnore ? ToLower(word) : std::string(word)), mode_(mode) {}
  bool Matches(Bytes text) const {
    if (word_.size() > text.size()) return false;
    return mode_ == CaseMode::kIgnore ? IsIn(ToLower(text)) : IsIn(text);
  }

 private:
  bool IsIn(Bytes text) const { return ::memmem(text.data(), text.size(), word_.data(), word_.size()) != nullptr; }

  std::string word_;
  CaseMode mode_;
};

using Predicate = std::variant<ExactPredicate, PartPredicate, Glob, RegularExpression>;

RegularExpression CompileExpression(Bytes pattern, CaseMode mode) {
  if (pattern.empty()) throw Refusal{refusals::kExpressionEmpty};
  auto compiled = RegularExpression::Compile(pattern, mode);
  if (compiled.ok()) return std::move(compiled).value();
  if (compiled.error() == RegularExpression::kHasBackReference) throw Refusal{refusals::kBackReference};
  throw refusals::BadExpression(compiled.error());
}

// EXACT: equals the text. MATCH: contains the text. GLOB: matches a pattern. RE: matches a regular expression.
enum class PredicateKind : uint8_t { kExact, kMatch, kGlob, kExpression };

// What ARGREP searches for, and what it replies.
class ArraySearch {
 public:
  explicit ArraySearch(Args& args) {
    while (!args.AtEnd()) TakeOption(args);
    if (words_.empty()) throw Refusal{refusals::kSyntax};
    for (const auto& [kind, word] : words_) predicates_.push_back(MakePredicate(kind, word));
  }

  uint64_t limit() const { return limit_; }
  bool with_values() const { return with_values_; }

  // Returns true if the text fits all predicates (AND), or at least one of them (OR). Throws a Refusal when the regular
  // expressions have taken kMaxSteps steps over all elements of this command.
  bool Matches(Bytes text) {
    const auto matches = [&](Predicate& predicate) {
      return std::visit([&](auto& test) { return MatchesOne(test, text); }, predicate);
    };
    return needs_all_ ? std::ranges::all_of(predicates_, matches) : std::ranges::any_of(predicates_, matches);
  }

 private:
  static std::optional<PredicateKind> KindOf(Bytes word) {
    if (EqualsIgnoreCase(word, "EXACT")) return PredicateKind::kExact;
    if (EqualsIgnoreCase(word, "MATCH")) return PredicateKind::kMatch;
    if (EqualsIgnoreCase(word, "GLOB")) return PredicateKind::kGlob;
    if (EqualsIgnoreCase(word, "RE")) return PredicateKind::kExpression;
    return std::nullopt;
  }

  template <class Test>
  bool MatchesOne(const Test& test, Bytes text) {
    return test.Matches(text);
  }
  bool MatchesOne(RegularExpression& expression, Bytes text) {
    const bool matches = expression.Matches(text, steps_left_);
    if (steps_left_ == 0) throw Refusal{refusals::kTooManySteps};
    return matches;
  }

  // Takes one option or predicate; the request may have them in any order, as in Redis. All predicates count. If
  // another option is repeated, the last one counts. If the request has both AND and OR, the last of them counts.
  void TakeOption(Args& args) {
    const Bytes word = args.Next();
    if (const auto kind = KindOf(word)) {
      const Bytes value = args.Next();
      if (words_.size() == kMaxPredicates) throw Refusal{refusals::kTooManyPredicates};
      if (*kind == PredicateKind::kExpression && value.size() > kMaxExpressionBytes) {
        throw Refusal{refusals::kExpressionTooLong};
      }
      words_.emplace_back(*kind, value);
    } else if (EqualsIgnoreCase(word, "LIMIT")) {
      limit_ = TakeArrayLimit(args);
    } else if (EqualsIgnoreCase(word, "WITHVALUES")) {
      with_values_ = true;
    } else if (EqualsIgnoreCase(word, "NOCASE")) {
      mode_ = CaseMode::kIgnore;
    } else if (EqualsIgnoreCase(word, "AND") || EqualsIgnoreCase(word, "OR")) {
      needs_all_ = EqualsIgnoreCase(word, "AND");
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }

  Predicate MakePredicate(PredicateKind kind, Bytes word) {
    switch (kind) {
      case PredicateKind::kExact:
        return ExactPredicate(word, mode_);
      case PredicateKind::kMatch:
        return PartPredicate(word, mode_);
      case PredicateKind::kGlob:
        return Glob(word, mode_);
      case PredicateKind::kExpression:
        return MakeExpression(word);
    }
    throw Refusal{refusals::kSyntax};
  }

  RegularExpression MakeExpression(Bytes word) {
    RegularExpression expression = CompileExpression(word, mode_);
    compiled_size_ += expression.Size();
    if (compiled_size_ > kMaxCompiledSize) throw refusals::BadExpression("Out of memory");
    return expression;
  }

  std::vector<std::pair<PredicateKind, Bytes>> words_;  // the predicates as the client sent them
  std::vector<Predicate> predicates_;                   // the same, compiled
  bool needs_all_ = false;                              // true: an element must match all predicates, not just one
  bool with_values_ = false;                            // true: the reply contains the elements, not just indexes
  CaseMode mode_ = CaseMode::kSensitive;
  uint64_t limit_ = UINT64_MAX;      // maximum number of elements to find
  size_t compiled_size_ = 0;         // instructions of all regular expressions
  uint64_t steps_left_ = kMaxSteps;  // steps that the regular expressions may still take
};

// The first or the last index of the range that ARGREP searches.
class SearchBound {
 public:
  // `word` is an index, `-` for the first or `+` for the last index of the array.
  explicit SearchBound(Bytes word) : is_last_(word == "+") {
    if (word != "-" && word != "+") index_ = ArrayIndexOf(word);
  }
  uint64_t In(const ArrayTable& table) const { return is_last_ ? table.Length() - 1 : index_; }

 private:
  bool is_last_;
  uint64_t index_ = 0;
};

struct ArGrep {
  static constexpr CommandSpec spec = {
      .syntax =
          "ARGREP key start end predicate(EXACT string|MATCH string|GLOB pattern:string|RE pattern:string)... "
          "[options(AND|OR|LIMIT limit:integer|WITHVALUES|NOCASE)...]",
      .summary = "Returns the indexes of the elements of an array that match texts or patterns.",
      .since = "8.8.0",
      .complexity = "O(N*M), N being the number of elements in the range, and M the cost of matching one",
      .group = CommandGroup::kArray,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const SearchBound start(call.args.Next());
    const SearchBound end(call.args.Next());
    ArraySearch search(call.args);
    const Array array = call.db.Read<Array>(key);
    if (array.IsEmpty()) return call.reply.Array(0);
    const ArrayTable& table = array.Table();
    std::vector<std::pair<uint64_t, const ArrayElement*>> found;
    table.VisitRange(start.In(table), end.In(table), [&](uint64_t index, const ArrayElement& element) {
      if (search.Matches(ArrayText(element).View())) found.emplace_back(index, &element);
      return found.size() < search.limit();
    });
    call.reply.Array(found.size());
    for (const auto& [index, element] : found) {
      search.with_values() ? ReplyPair(call.reply, index, *element) : ReplyUnsigned(call.reply, index);
    }
  }
};

constexpr auto kArrayGrepCommands = Family<ArGrep>();

}  // namespace

std::span<const CommandCard> ArrayGrepCommands() { return kArrayGrepCommands; }

}  // namespace respite
