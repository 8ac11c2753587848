#include "server/tools/client_help.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "server/catalogue/command_docs.h"
#include "server/catalogue/command_syntax.h"
#include "server/catalogue/dialect.h"
#include "server/commands/families.h"
#include "server/config/usage.h"

namespace respite {

namespace {

using ArgumentNodes = std::span<const SyntaxArgument>;

constexpr size_t kGroups = static_cast<size_t>(CommandGroup::kModule) + 1;

std::string Joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) all += (i == 0 ? "" : std::string(between)) + texts[i];
  return all;
}

std::vector<std::string> ArgumentTexts(ArgumentNodes nodes);

// Returns the text of an argument without its token, for example "key", "NX|XX" or "key value".
std::string ArgumentValueText(const SyntaxArgument& node, ArgumentNodes children) {
  if (node.type == ArgumentType::kPureToken) return "";
  if (node.type == ArgumentType::kOneOf) return Joined(ArgumentTexts(children), "|");
  if (node.type == ArgumentType::kBlock) return Joined(ArgumentTexts(children), " ");
  return std::string(node.display.empty() ? node.name : node.display);
}

std::string TokenText(const SyntaxArgument& node) { return node.token.empty() ? "\"\"" : std::string(node.token); }

// Returns the text of an argument as in the documentation of Redis, for example "[COUNT count]" or "key [key ...]".
std::string ArgumentText(const SyntaxArgument& node, ArgumentNodes children) {
  const std::string token = node.HasToken() ? TokenText(node) : "";
  const std::string value = ArgumentValueText(node, children);
  std::string text = token + (token.empty() || value.empty() ? "" : " ") + value;
  const std::string& repeated = node.multiple_token ? text : value;
  if (node.multiple) text += " [" + std::string(repeated) + " ...]";
  return node.optional ? "[" + text + "]" : text;
}

std::vector<std::string> ArgumentTexts(ArgumentNodes nodes) {
  std::vector<std::string> texts;
  ForEachArgument(nodes, [&](const SyntaxArgument& node, ArgumentNodes children) {
    texts.push_back(ArgumentText(node, children));
  });
  return texts;
}

// Appends to `words` one text for each word that a user types for the argument `node`: its keyword, such as "COUNT",
// and the name of its value, such as "count". Appends only the mandatory arguments of a group.
void AppendWordTexts(std::vector<std::string>& words, const SyntaxArgument& node, ArgumentNodes children) {
  if (node.HasToken()) words.push_back(TokenText(node));
  if (node.type == ArgumentType::kPureToken) return;
  if (node.type != ArgumentType::kBlock) {
    words.push_back(ArgumentValueText(node, children));
    return;
  }
  ForEachArgument(children, [&](const SyntaxArgument& child, ArgumentNodes below) {
    if (!child.optional) AppendWordTexts(words, child, below);
  });
}

// The arguments of a command that the user has not typed yet. Their texts are the hint.
class RemainingArguments {
 public:
  explicit RemainingArguments(ArgumentNodes nodes) {
    ForEachArgument(nodes, [&](const SyntaxArgument& node, ArgumentNodes children) {
      arguments_.push_back({node, children, ArgumentText(node, children)});
    });
  }

  // Takes the next `word` that the user has typed. If the previous argument still awaits words (awaited_), `word` is
  // one of them. Otherwise `word` begins another argument. The hint then no longer shows this argument, except that an
  // argument that may be repeated stays, as "[… ...]". Returns false if no argument fits.
  bool Take(std::string_view word) {
    if (!awaited_.empty()) {
      awaited_.erase(awaited_.begin());
      return true;
    }
    Argument* const next = NextFor(word);
    if (next == nullptr) return false;
    // After a mandatory argument was typed, the optional arguments before it cannot follow any more. So removes them
    // from the hint.
    if (!next->node.optional)
      for (Argument* earlier = arguments_.data(); earlier != next; ++earlier) earlier->is_open = false;
    const bool repeats = next->node.multiple;
    next->is_open = repeats;
    if (repeats) next->text = "[" + Joined(awaited_texts_, " ") + " ...]";
    next->is_optional_now = repeats;
    awaited_.assign(awaited_texts_.begin() + 1, awaited_texts_.end());
    return true;
  }

  std::string Text() const {
    std::vector<std::string> texts = awaited_;
    for (const Argument& argument : arguments_)
      if (argument.is_open) texts.push_back(argument.text);
    return Joined(texts, " ");
  }

 private:
  struct Argument {
    SyntaxArgument node;
    ArgumentNodes children;
    std::string text;
    bool is_open = true;
    bool is_optional_now = node.optional;
  };

  // Returns the texts that the hint shows for the argument `node`, one for each word that must be typed, such as {"EX",
  // "seconds"}. Returns nullopt if the typed `word` cannot be the first of them. If `by_token` is true, `word` must be
  // a token. Otherwise each `word` also matches an argument without a token, as its value. If there are alternatives
  // (kOneOf), returns the texts of the first one that matches. A block of optional arguments never matches.
  static std::optional<std::vector<std::string>> Match(const SyntaxArgument& node, ArgumentNodes children,
                                                       std::string_view word, bool by_token) {
    std::vector<std::string> words;
    AppendWordTexts(words, node, children);
    if (words.empty()) return std::nullopt;  // a block of options
    if (node.HasToken()) return EqualsIgnoreCase(node.token, word) ? std::optional(words) : std::nullopt;
    std::optional<std::vector<std::string>> found;
    if (node.type == ArgumentType::kOneOf) {
      ForEachArgument(children, [&](const SyntaxArgument& child, ArgumentNodes below) {
        if (!found) found = Match(child, below, word, by_token);
      });
    } else if (node.type == ArgumentType::kBlock && !children.empty()) {
      const ArgumentNodes below = children.subspan(1, children[0].size - 1u);
      if (Match(children[0], below, word, by_token)) found = words;
    } else if (!by_token) {
      found = words;
    }
    return found;
  }

  Argument* NextFor(std::string_view word) {
    for (const bool by_token : {true, false}) {
      for (Argument& argument : arguments_) {
        if (!argument.is_open) continue;
        const auto words = Match(argument.node, argument.children, word, by_token);
        if (words) {
          awaited_texts_ = *words;
          return &argument;
        }
        if (!argument.is_optional_now) break;  // mandatory arguments have a fixed order
      }
    }
    return nullptr;
  }

  std::vector<Argument> arguments_;
  std::vector<std::string> awaited_;        // the missing words of a partly typed argument
  std::vector<std::string> awaited_texts_;  // the words of the argument that NextFor found
};

const CommandSet& ClientCommandSet() {
  static const std::shared_ptr<const CommandSet> set = AllCommands();
  return *set;
}

// Returns the name of a command as the user types it: "CLIENT LIST" for "client|list".
std::string TypedName(const Command& command) {
  std::string name = ToUpper(command.full_name);
  std::ranges::replace(name, '|', ' ');
  return name;
}

template <class Visitor>
void ForEachClientCommand(Visitor&& visit) {
  for (const Command* command : ClientCommandSet().names().Commands()) {
    visit(*command);
    for (const Command& sub : command->subcommands) visit(sub);
  }
}

// Returns the command whose name these words begin with. It is a subcommand if the second word names one. Returns null
// if the first word is no command.
const Command* CommandOf(std::span<const std::string> words) {
  const Command* const command = words.empty() ? nullptr : ClientCommandSet().names().Find(words[0]);
  if (command == nullptr || words.size() < 2) return command;
  for (const Command& sub : command->subcommands)
    if (EqualsIgnoreCase(sub.name, words[1])) return &sub;
  return command;
}

std::string SyntaxText(const Command& command) {
  return Joined(ArgumentTexts(ParseSyntax(command.Spec().syntax).Arguments()), " ");
}

std::string SubcommandTexts(const Command& container) {
  std::vector<std::string> names;
  for (const Command& sub : container.subcommands) names.push_back(ToUpper(sub.name));
  return Joined(names, "|");
}

class HelpWriter {
 public:
  explicit HelpWriter(bool is_terminal) : is_terminal_(is_terminal) {}

  void Command(const respite::Command& command, bool shows_group) {
    const CommandSpec& spec = command.Spec();
    out_ += "\n  " + In("1", TypedName(command)) + " " + In("90", SyntaxText(command)) + "\n";
    Row("summary", spec.summary);
    Row("since", command.dialect->ShownVersion(spec.since));
    if (shows_group) Row("group", CommandGroupName(spec.group));
  }
  std::string Take() { return std::move(out_) + "\n"; }

 private:
  std::string In(std::string_view colour, const std::string& text) const {
    return is_terminal_ ? "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m" : text;
  }
  void Row(const std::string& name, std::string_view text) {
    out_ += "  " + In("33", name + ":") + " " + std::string(text) + "\n";
  }

  const bool is_terminal_;
  std::string out_;
};

std::string GeneralHelp() {
  return "respite-cli " + std::string(kRespiteVersion) +
         "\n"
         "To get help about commands type:\n"
         "      \"help @<group>\" to get a list of commands in <group>\n"
         "      \"help <command>\" for help on <command>\n"
         "      \"help <tab>\" to get a list of possible help topics\n"
         "      \"quit\" to exit\n"
         "\n"
         "To connect elsewhere: \"connect <host> <port>\"; to clear the screen: \"clear\"\n"
         "To repeat a command: a number before it; hints: \":set hints\", \":set nohints\"\n";
}

std::vector<std::string> HelpTopics() {
  std::vector<std::string> topics;
  for (size_t i = 0; i < kGroups; ++i)
    topics.push_back("@" + std::string(CommandGroupName(static_cast<CommandGroup>(i))));
  ForEachClientCommand([&](const Command& command) { topics.push_back(TypedName(command)); });
  return topics;
}

}  // namespace

std::string CommandHint(std::string_view line) {
  const auto words = SplitQuoted(line);
  if (!words || words->empty()) return "";
  const Command* const command = CommandOf(*words);
  if (command == nullptr) return "";
  if (command->IsContainer()) return words->size() == 1 ? SubcommandTexts(*command) : "";
  const CommandSyntax syntax = ParseSyntax(command->Spec().syntax);
  RemainingArguments remaining(syntax.Arguments());
  for (size_t i = command->parent == nullptr ? 1 : 2; i < words->size(); ++i)
    if (!remaining.Take((*words)[i])) return "";
  return remaining.Text();
}

std::vector<std::string> CommandCompletions(std::string_view line) {
  constexpr std::string_view kHelp = "help ";
  std::vector<std::string> names;
  std::string before;
  if (line.size() >= kHelp.size() && EqualsIgnoreCase(line.substr(0, kHelp.size()), kHelp)) {
    before = line.substr(0, kHelp.size());
    line.remove_prefix(kHelp.size());
    names = HelpTopics();
  } else {
    ForEachClientCommand([&](const Command& command) { names.push_back(TypedName(command)); });
  }
  const bool is_lower = std::ranges::none_of(line, [](char c) { return c >= 'A' && c <= 'Z'; }) && !line.empty();
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name.size() < line.size() || !EqualsIgnoreCase(std::string_view(name).substr(0, line.size()), line)) continue;
    // Offers subcommands only after their command is typed.
    if (name.find(' ') != std::string::npos && line.find(' ') == std::string_view::npos) continue;
    found.push_back(before + (is_lower ? ToLower(name) : name));
  }
  std::ranges::sort(found);
  return found;
}

std::string HelpText(std::span<const std::string> words, bool is_terminal) {
  if (words.empty()) return GeneralHelp();
  HelpWriter writer(is_terminal);
  std::vector<std::string> sought(words.begin(), words.end());
  const std::string wanted = ToUpper(Joined(sought, " "));
  ForEachClientCommand([&](const Command& command) {
    const bool is_of_group = wanted == ToUpper("@" + std::string(CommandGroupName(command.Spec().group)));
    const std::string name = TypedName(command);
    if (is_of_group || name == wanted || name.starts_with(wanted + " ")) writer.Command(command, !is_of_group);
  });
  return writer.Take();
}

}  // namespace respite
