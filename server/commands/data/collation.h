// Collation: compares texts in the locale that the directive `locale-collate` names.
#pragma once

#include <locale.h>

#include <string>

#include "base/bytes.h"

namespace respite {

class Collation {  // the order of texts in the locale of `locale-collate`, for SORT ALPHA
 public:
  // Loads a locale. An empty name means the locale of the environment (LC_ALL, LC_COLLATE, LANG). If the system lacks
  // the locale, texts are compared by bytes. Cost: reads the locale's files, except for the locale C.
  explicit Collation(const std::string& name);
  ~Collation();
  Collation(const Collation&) = delete;
  Collation& operator=(const Collation&) = delete;

  bool Exists() const { return locale_ != nullptr; }  // true: this system has the locale
  bool ByBytes() const { return by_bytes_; }          // true: texts are compared by bytes, so KeyOf must not be called
  std::string KeyOf(Bytes text) const;  // sort key of a text: keys compare by bytes as texts in the locale

 private:
  locale_t locale_ = nullptr;  // the locale for comparisons; null: this system lacks it
  bool by_bytes_ = true;       // texts are compared by bytes
};

}  // namespace respite
