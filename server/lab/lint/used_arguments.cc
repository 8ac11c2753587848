#include "server/lab/lint/used_arguments.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace respite {

namespace {

using Arguments = std::span<const SyntaxArgument>;

class Walk {
 public:
  explicit Walk(std::span<const Bytes> words) : words_(words) {}

  // Each function Take… tries to match one part of the syntax with the request's arguments from index `at` on. Returns
  // the index after the matched arguments, or nullopt if the arguments do not match. `kept` is the number of arguments
  // at the end that must be left for later parts of the syntax. `versioned_argument` is the enclosing group that has a
  // version, or null.
  std::optional<size_t> TakeAll(Arguments nodes, size_t at, size_t kept, const SyntaxArgument* versioned_argument);
  std::vector<UsedArgument> used;

 private:
  std::optional<size_t> TakeOne(const SyntaxArgument& node, size_t at, size_t kept,
                                const SyntaxArgument* versioned_argument);
  std::optional<size_t> TakeOnce(const SyntaxArgument& node, size_t at, size_t kept,
                                 const SyntaxArgument* versioned_argument);
  std::optional<size_t> TakeOneOf(Arguments nodes, size_t at, size_t kept, const SyntaxArgument* versioned_argument);
  // Matches as many of the optional arguments `run` as possible, in any order. Returns the index in words_ after the
  // last matched word; `at` if none matches.
  size_t TakeOptions(Arguments run, size_t at, size_t kept, const SyntaxArgument* versioned_argument);
  static Arguments ChildrenOf(const SyntaxArgument& node) { return {&node + 1, node.size - 1u}; }

  const std::span<const Bytes> words_;
};

size_t LeastWords(Arguments nodes) { return static_cast<size_t>(syntax_internal::WidthOfAll(nodes).words); }

std::optional<size_t> Walk::TakeAll(Arguments nodes, size_t at, size_t kept, const SyntaxArgument* versioned_argument) {
  for (size_t i = 0; i < nodes.size();) {
    size_t end = i;
    while (end < nodes.size() && nodes[end].optional) end += nodes[end].size;
    if (end != i) {
      at = TakeOptions(nodes.subspan(i, end - i), at, kept + LeastWords(nodes.subspan(end)), versioned_argument);
      i = end;
      continue;
    }
    const auto next = TakeOne(nodes[i], at, kept + LeastWords(nodes.subspan(i + nodes[i].size)), versioned_argument);
    if (!next) return std::nullopt;
    at = *next;
    i += nodes[i].size;
  }
  return at;
}

size_t Walk::TakeOptions(Arguments run, size_t at, size_t kept, const SyntaxArgument* versioned_argument) {
  std::vector<const SyntaxArgument*> left;
  for (size_t i = 0; i < run.size(); i += run[i].size) left.push_back(&run[i]);
  for (size_t i = 0; i < left.size();) {
    const auto next = TakeOne(*left[i], at, kept, versioned_argument);
    if (next && *next > at) {
      at = *next;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    } else {
      ++i;
    }
  }
  return at;
}

std::optional<size_t> Walk::TakeOne(const SyntaxArgument& node, size_t at, size_t kept,
                                    const SyntaxArgument* versioned_argument) {
  auto end = TakeOnce(node, at, kept, versioned_argument);
  while (node.multiple && end && *end > at) {
    at = *end;
    end = TakeOnce(node, at, kept, versioned_argument);
    if (!end) return at;
  }
  return end;
}

std::optional<size_t> Walk::TakeOnce(const SyntaxArgument& node, size_t at, size_t kept,
                                     const SyntaxArgument* versioned_argument) {
  const size_t before = used.size();
  if (!node.since.IsEmpty()) versioned_argument = &node;
  if (at + kept >= words_.size()) return std::nullopt;
  if (node.HasToken() && !EqualsIgnoreCase(node.token, words_[at])) return std::nullopt;
  const bool is_bare_option = node.optional && node.type < ArgumentType::kPureToken;
  if (node.HasToken() || is_bare_option) used.push_back({&node, versioned_argument});
  if (node.HasToken()) ++at;
  std::optional<size_t> end = at;
  if (node.type == ArgumentType::kOneOf) {
    end = TakeOneOf(ChildrenOf(node), at, kept, versioned_argument);
  } else if (node.type == ArgumentType::kBlock) {
    end = TakeAll(ChildrenOf(node), at, kept, versioned_argument);
  } else if (node.type != ArgumentType::kPureToken) {
    end = at + kept < words_.size() ? std::optional(at + 1) : std::nullopt;
  }
  if (!end) used.resize(before);
  return end;
}

// Matches the alternative of a choice that covers the most arguments of the request. Returns the index after these
// arguments, or nullopt if no alternative matches.
std::optional<size_t> Walk::TakeOneOf(Arguments nodes, size_t at, size_t kept,
                                      const SyntaxArgument* versioned_argument) {
  const size_t before = used.size();
  std::optional<size_t> best;
  std::vector<UsedArgument> used_by_best;
  for (size_t i = 0; i < nodes.size(); i += nodes[i].size) {
    const auto end = TakeOne(nodes[i], at, kept, versioned_argument);
    if (end && (!best || *end > *best)) {
      best = end;
      used_by_best.assign(used.begin() + static_cast<std::ptrdiff_t>(before), used.end());
    }
    used.resize(before);
  }
  used.insert(used.end(), used_by_best.begin(), used_by_best.end());
  return best;
}

}  // namespace

std::vector<UsedArgument> UsedArguments(const CommandSyntax& syntax, std::span<const Bytes> words) {
  Walk walk(words);
  walk.TakeAll(syntax.Arguments(), syntax.container.empty() ? 1 : 2, 0, nullptr);
  return std::move(walk.used);
}

}  // namespace respite
