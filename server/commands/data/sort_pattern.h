// SortPattern: tells SORT where to find the value that belongs to an element (options BY and GET).
//   #               the element itself (only GET)
//   before*after    the string at this key, with the element in place of the first star
//   key*->field     the field of the hash at this key; an arrow at the end is part of the key
//   anything else   no value
#pragma once

#include <string>
#include <utility>

#include "datatypes/hash.h"
#include "server/dataset/db_view.h"

namespace respite {

class SortPattern {  // a pattern of SORT: where the value for each element is found (BY, GET)
 public:
  explicit SortPattern(Bytes text);

  Bytes text() const { return text_; }
  bool HasStar() const { return kind_ == Kind::kKey; }  // the pattern contains `*`, so it names keys
  // Calls visit(Bytes value) with the value that the pattern yields for the element: the element itself (`#`), a
  // string, or a field of a hash. The view is valid only during the call.
  template <class Visit>
  bool VisitValue(DbView& db, Bytes element, Visit&& visit);               // calls visit(value); false: there is none
  void PrefetchValues(const DbView& db, std::span<const Bytes> elements);  // prefetches the values of the next elements

 private:
  // The value that the pattern yields. kNothing: none. kElement: the element itself (`#`). kKey: the value of another
  // key.
  enum class Kind : uint8_t { kNothing, kElement, kKey };

  void MakeKey(std::string& key, Bytes element) const {  // makes the key in which the element replaces the star
    key.assign(before_).append(element).append(after_);
  }

  Bytes text_;
  Kind kind_ = Kind::kNothing;
  Bytes before_;  // part of the key before the star
  Bytes after_;   // part of the key after the star
  Bytes field_;   // field of the hash at the key; empty: the value at the key is a string
  std::string key_;
};

template <class Visit>
bool SortPattern::VisitValue(DbView& db, Bytes element, Visit&& visit) {  // calls visit(value); false: there is none
  if (kind_ == Kind::kElement) visit(element);
  if (kind_ != Kind::kKey) return kind_ == Kind::kElement;
  MakeKey(key_, element);
  const Entry* entry = db.Read(key_);
  if (entry == nullptr || entry->Type() != (field_.empty() ? ValueType::kString : ValueType::kHash)) return false;
  if (field_.empty()) {
    visit(StringText(*entry).View());
    return true;
  }
  const auto value = db.View<Hash>(entry).Get(field_);
  if (value) visit(value->View());
  return value.has_value();
}

}  // namespace respite
