#include "server/lab/fixture_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/duration_text.h"

namespace respite {

namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

constexpr int kDeepest = 200;  // the JSON writer recurses once per level

// The reason why a fixture is refused, as an exception that only this file throws and catches.
struct Problem {
  std::string text;
};

// Throws a Problem if a name occurs twice in a JSON object, because the parser would silently keep only the last value.
class RepeatedNames {
 public:
  void OnEvent(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event != Json::parse_event_t::key) return;
    const auto name = parsed.get<std::string>();
    if (!open_.back().insert(name).second) throw Problem{"the name " + Quoted(name) + " occurs twice in an object"};
  }

 private:
  std::vector<std::set<std::string>> open_;
};

class Reader {
 public:
  Fixture Read(const Json& json);

 private:
  using Adder = void (Reader::*)(const Json& value);
  struct Kind {
    Bytes name;
    Adder add;
  };
  static const std::array<Kind, 10> kKinds;

  [[noreturn]] void Refuse(const std::string& reason) const { throw Problem{place_ + ": " + reason}; }
  // Returns `value` if it has this type and is not empty. Throws a Problem with the text `shape` for another type, and
  // a Problem with another text for an empty value.
  const Json& Elements(const Json& value, Json::value_t type, const char* shape) const;
  std::string Text(const Json& value) const;
  std::string JoinedKinds() const;
  static const Kind* KindOf(Bytes name);

  void AddKey(const Json& described);
  void ReadMembers(const Json& described);
  void ReadMember(const std::string& name, const Json& value);
  void AddValue();
  void AddRequest(Words words) { fixture_.requests.push_back({std::move(words), place_}); }
  void AddElements(const char* command, const Json& value, const char* shape);

  void AddString(const Json& value) { AddRequest({"SET", key_, Text(value)}); }
  void AddJson(const Json& value) { AddRequest({"SET", key_, value.dump()}); }
  void AddDocument(const Json& value) { AddRequest({"JSON.SET", key_, "$", value.dump()}); }
  void AddList(const Json& value) {
    AddElements("RPUSH", value, R"("list" must be an array, such as ["first", "second"])");
  }
  void AddSet(const Json& value) { AddElements("SADD", value, R"("set" must be an array, such as ["red", "green"])"); }
  void AddHash(const Json& value);
  void AddSortedSet(const Json& value);
  void AddStream(const Json& value);
  void AddEntry(const std::string& id, const Json& fields);
  void AddArray(const Json& value);
  void AddVectorSet(const Json& value);

  Fixture fixture_;
  int64_t selected_db_ = 0;

  // The following members describe the key whose value is being read.
  std::string key_;
  std::string place_;
  const Kind* kind_ = nullptr;
  const Json* value_ = nullptr;
  int64_t db_ = 0;
  std::optional<int64_t> ttl_ms_;
};

const std::array<Reader::Kind, 10> Reader::kKinds = {{{"string", &Reader::AddString},
                                                      {"json", &Reader::AddJson},
                                                      {"list", &Reader::AddList},
                                                      {"set", &Reader::AddSet},
                                                      {"zset", &Reader::AddSortedSet},
                                                      {"hash", &Reader::AddHash},
                                                      {"stream", &Reader::AddStream},
                                                      {"array", &Reader::AddArray},
                                                      {"vectorset", &Reader::AddVectorSet},
                                                      {"document", &Reader::AddDocument}}};

const Reader::Kind* Reader::KindOf(Bytes name) {
  const auto* found = std::ranges::find_if(kKinds, [&](const Kind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

std::string Reader::JoinedKinds() const {
  std::string text;
  for (const Kind& kind : kKinds) text += (text.empty() ? "" : ", ") + std::string(kind.name);
  return text;
}

Fixture Reader::Read(const Json& json) {
  if (!json.is_object())
    throw Problem{R"(a fixture must be an object that has a member for each key: {"key": "value"})"};
  for (const auto& [key, described] : json.items()) {
    key_ = key;
    place_ = "key " + Quoted(key);
    AddKey(described);
  }
  return std::move(fixture_);
}

void Reader::AddKey(const Json& described) {
  kind_ = KindOf("string");
  value_ = &described;
  db_ = 0;
  ttl_ms_.reset();
  if (described.is_object()) ReadMembers(described);
  if (db_ != selected_db_) AddRequest({"SELECT", std::to_string(db_)});
  selected_db_ = db_;
  AddRequest({"DEL", key_});
  (this->*kind_->add)(*value_);
  if (ttl_ms_) AddRequest({"PEXPIRE", key_, std::to_string(*ttl_ms_)});
}

void Reader::ReadMembers(const Json& described) {
  kind_ = nullptr;
  for (const auto& [name, value] : described.items()) ReadMember(name, value);
  if (kind_ == nullptr) Refuse("it has no value. A value is one of " + JoinedKinds());
}

void Reader::ReadMember(const std::string& name, const Json& value) {
  if (name == "ttl") {
    const auto ttl = value.is_string() ? ParseDurationMs(value.get<std::string>()) : std::nullopt;
    if (!ttl || *ttl == 0) Refuse(R"("ttl" must be a duration, such as "90s", "1h" or "250ms")");
    ttl_ms_ = ttl;
  } else if (name == "db") {
    if (!value.is_number_unsigned()) Refuse(R"("db" must be the number of a database)");
    db_ = value.get<int64_t>();
  } else if (const Kind* const kind = KindOf(name)) {
    if (kind_ != nullptr) {
      Refuse("it has two values, " + Quoted(kind_->name) + " and " + Quoted(name) + ", but a key has one");
    }
    kind_ = kind;
    value_ = &value;
  } else {
    Refuse("there is no member " + Quoted(name) + ". A value is one of " + JoinedKinds() +
           "; besides, there may be ttl and db");
  }
}

std::string Reader::Text(const Json& value) const {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  Refuse(value.dump().substr(0, 60) + " must be a text or a number");
}

const Json& Reader::Elements(const Json& value, Json::value_t type, const char* shape) const {
  if (value.type() != type) Refuse(shape);
  if (value.empty()) Refuse("an empty collection does not exist. Leave the key out");
  return value;
}

void Reader::AddElements(const char* command, const Json& value, const char* shape) {
  Words words = {command, key_};
  for (const Json& element : Elements(value, Json::value_t::array, shape)) words.push_back(Text(element));
  AddRequest(std::move(words));
}

void Reader::AddHash(const Json& value) {
  Words words = {"HSET", key_};
  for (const auto& [field, text] :
       Elements(value, Json::value_t::object, R"("hash" must be an object, such as {"name": "Ada"})").items()) {
    words.push_back(field);
    words.push_back(Text(text));
  }
  AddRequest(std::move(words));
}

void Reader::AddSortedSet(const Json& value) {
  Words words = {"ZADD", key_};
  for (const auto& [member, score] :
       Elements(value, Json::value_t::object, R"("zset" must be an object, such as {"ada": 10, "bob": 7.5})").items()) {
    words.push_back(Text(score));
    words.push_back(member);
  }
  AddRequest(std::move(words));
}

void Reader::AddStream(const Json& value) {
  constexpr const char* kShape =
      R"("stream" must be an object of entries by ID, such as {"1-1": {"name": "Ada"}}, or an array of entries)";
  if (value.is_array()) {
    for (const Json& fields : Elements(value, Json::value_t::array, kShape)) AddEntry("*", fields);
    return;
  }
  for (const auto& [id, fields] : Elements(value, Json::value_t::object, kShape).items()) AddEntry(id, fields);
}

void Reader::AddEntry(const std::string& id, const Json& fields) {
  Words words = {"XADD", key_, id};
  for (const auto& [field, text] :
       Elements(fields, Json::value_t::object, R"(an entry of a stream must be an object, such as {"name": "Ada"})")
           .items()) {
    words.push_back(field);
    words.push_back(Text(text));
  }
  AddRequest(std::move(words));
}

void Reader::AddArray(const Json& value) {
  constexpr const char* kShape =
      R"("array" must be an array, such as ["first", null, "third"], or an object of elements by index, such as {"7": "x"})";
  Words words = {"ARMSET", key_};
  const auto add = [&](const std::string& index, const Json& text) {
    words.push_back(index);
    words.push_back(Text(text));
  };
  if (value.is_array()) {
    size_t index = 0;
    for (const Json& text : Elements(value, Json::value_t::array, kShape)) {
      if (!text.is_null()) add(std::to_string(index), text);
      ++index;
    }
    if (words.size() == 2) Refuse("an array without elements does not exist. Leave the key out");
  } else {
    for (const auto& [index, text] : Elements(value, Json::value_t::object, kShape).items()) add(index, text);
  }
  AddRequest(std::move(words));
}

void Reader::AddVectorSet(const Json& value) {
  constexpr const char* kShape =
      R"("vectorset" must be an object of vectors by element, such as {"cat": [0.1, 0.9]} or {"cat": {"vector": [0.1, 0.9], "attributes": {"legs": 4}}})";
  for (const auto& [element, described] : Elements(value, Json::value_t::object, kShape).items()) {
    const bool has_members = described.is_object() && described.contains("vector");
    const Json& vector = Elements(has_members ? described["vector"] : described, Json::value_t::array, kShape);
    Words words = {"VADD", key_, "VALUES", std::to_string(vector.size())};
    for (const Json& number : vector) words.push_back(Text(number));
    words.push_back(element);
    if (has_members && described.contains("attributes")) {
      words.push_back("SETATTR");
      words.push_back(described["attributes"].dump());
    }
    AddRequest(std::move(words));
  }
}

// Returns the parser's error text from the position on: "[json.exception.parse_error.101] parse error at line 2, column
// 3: …" becomes "line 2, column 3: …". Without a position, removes only "[…] ". Replaces characters other than
// printable ASCII by `?`.
std::string ReasonOf(const Json::exception& error) {
  std::string text = error.what();
  const size_t place = text.find("line ");
  const size_t name_end = text.find("] ");
  text.erase(0, place != std::string::npos ? place : name_end == std::string::npos ? 0 : name_end + 2);
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

Result<Fixture> ReadJsonFixture(Bytes text) {
  RepeatedNames names;
  const auto on_event = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kDeepest) throw Problem{"arrays and objects are nested too deeply"};
    names.OnEvent(event, parsed);
    return true;
  };
  try {
    return Reader().Read(Json::parse(text, on_event));
  } catch (const Json::exception& error) {
    return Failure(ReasonOf(error));
  } catch (const Problem& problem) {
    return Failure(problem.text);
  }
}

}  // namespace respite
