#include "tests/server/command_facts.h"

#include <charconv>
#include <fstream>
#include <stdexcept>

#include "base/str_cat.h"
#include "server/catalogue/command_docs.h"

namespace respite {
namespace {

class Decoder {
 public:
  explicit Decoder(std::string_view text) : rest_(text) {}

  Decoded Next() {
    Decoded value{.kind = rest_.at(0)};
    const std::string_view line = TakeLine();
    if (value.kind == '$') return Text(value, Number(line));
    if (value.kind == '*' || value.kind == '~') return Items(value, Number(line));
    if (value.kind == '%') return Items(value, 2 * Number(line));
    value.text = line;
    return value;
  }

 private:
  std::string_view TakeLine() {
    const size_t end = rest_.find("\r\n");
    if (end == std::string_view::npos) throw std::runtime_error("reply ends too early");
    const std::string_view line = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 2);
    return line;
  }
  static size_t Number(std::string_view line) {
    size_t number = 0;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return number;
  }
  Decoded Text(Decoded value, size_t size) {
    value.text = rest_.substr(0, size);
    rest_.remove_prefix(size + 2);
    return value;
  }
  Decoded Items(Decoded value, size_t count) {
    for (size_t i = 0; i < count; ++i) value.items.push_back(Next());
    return value;
  }

  std::string_view rest_;
};

std::string Joined(const Decoded& list) {
  std::string text;
  for (const Decoded& item : list.items) text += (text.empty() ? "" : ",") + item.text;
  return text;
}

Decoded Run(void (*write)(Reply&, const Command&), const Command& command) {
  BlockPool pool;
  ReplyBuffer buffer(pool);
  Reply reply(buffer, RespVersion::kResp3);
  write(reply, command);
  return DecodeResp3(buffer.Text());
}

class FactWriter {
 public:
  void AddInfo(const Decoded& row) {
    const std::string& name = row.items.at(0).text;
    Add(name, "arity=" + row.items.at(1).text);
    Add(name, "flags=" + Joined(row.items.at(2)));
    Add(name, "legacy_keys=" + row.items.at(3).text + "," + row.items.at(4).text + "," + row.items.at(5).text);
    Add(name, "categories=" + Joined(row.items.at(6)));
    if (row.items.size() == 7) return;  // as Redis 6.2
    for (const Decoded& tip : row.items.at(7).items) Add(name, "tip=" + tip.text);
    size_t number = 0;
    for (const Decoded& spec : row.items.at(8).items) Add(name, StrCat("key_spec#", number++, " ", KeySpecText(spec)));
    for (const Decoded& sub : row.items.at(9).items) {
      Add(name, "subcommand=" + sub.items.at(0).text);
      AddInfo(sub);
    }
  }

  void AddDocs(const std::string& name, const Decoded& docs) {
    for (const char* field : {"since", "group", "deprecated_since", "replaced_by"})
      if (const Decoded* value = docs.Field(field)) Add(name, std::string(field) + "=" + value->text);
    if (const Decoded* flags = docs.Field("doc_flags")) Add(name, "doc_flags=" + Joined(*flags));
    if (const Decoded* arguments = docs.Field("arguments")) AddArguments(name, "", *arguments);
    if (const Decoded* subs = docs.Field("subcommands"))
      for (size_t i = 0; i < subs->items.size(); i += 2) AddDocs(subs->items[i].text, subs->items[i + 1]);
  }

  std::set<std::string> facts;

 private:
  void Add(const std::string& name, const std::string& fact) { facts.insert(name + " " + fact); }

  static std::string KeySpecText(const Decoded& spec) {
    std::string text = "flags=" + Joined(*spec.Field("flags"));
    for (const char* part : {"begin_search", "find_keys"}) {
      const Decoded& rule = *spec.Field(part);
      text += " " + std::string(part) + "=" + rule.Field("type")->text;
      const Decoded& fields = *rule.Field("spec");
      for (size_t i = 0; i < fields.items.size(); i += 2)
        text += " " + fields.items[i].text + "=" + fields.items[i + 1].text;
    }
    return text;
  }

  void AddArguments(const std::string& name, const std::string& path, const Decoded& arguments) {
    size_t number = 0;
    for (const Decoded& argument : arguments.items) {
      const std::string here = StrCat(path, number++);
      std::string fact = "argument#" + here;
      for (size_t i = 0; i < argument.items.size(); i += 2) {
        const std::string& field = argument.items[i].text;
        const Decoded& value = argument.items[i + 1];
        if (field != "arguments") fact += " " + field + "=" + (field == "flags" ? Joined(value) : value.text);
      }
      Add(name, fact);
      if (const Decoded* nested = argument.Field("arguments")) AddArguments(name, here + ".", *nested);
    }
  }
};

}  // namespace

const Decoded* Decoded::Field(std::string_view name) const {
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].text == name) return &items[i + 1];
  return nullptr;
}

Decoded DecodeResp3(std::string_view reply) { return Decoder(reply).Next(); }

std::set<std::string> FactsOf(const Command& command) {
  FactWriter writer;
  writer.AddInfo(Run(WriteCommandInfo, command));
  writer.AddDocs(command.full_name, Run(WriteCommandDocs, command));
  return std::move(writer.facts);
}

std::string_view CommandOfFact(std::string_view fact) { return fact.substr(0, fact.find(' ')); }

std::vector<std::string> GoldenLines(const std::string& file) {
  std::ifstream in(RESPITE_SOURCE_DIR "/tests/golden/" + file);
  if (!in) throw std::runtime_error("cannot read tests/golden/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace respite
