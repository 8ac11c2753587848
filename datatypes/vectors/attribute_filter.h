// AttributeFilter: an expression such as `.year >= 1980 and .genre in ["action", "drama"]`, which tells whether the
// JSON attributes of an element match.
//
//   or ||                      lowest precedence; all operators but ** are left-associative
//   and &&
//   == != < > <= >= in         `in` finds an element of a list or of an array, or a part of a text
//   + -
//   * / %
//   **
//   not !                      one only: `not not x` is an error
//   ( )   12.5   -3   "text"   'text'   [1, "a"]   null   .field
//
// Texts in the expression have no escapes, but a quote after a backslash does not end the text. As in Redis: `==`
// compares two texts as bytes, and all other values as numbers; a text that is no number counts as 0, and a list as 0;
// null equals only null. An element without attributes, or without one of the fields of the expression, does not match.
//
// An expression is compiled to a program for a stack, so that compiling and matching do not recurse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

class AttributeFilter {  // a compiled expression that decides whether attributes match
 public:
  static constexpr size_t kMaxTextBytes = 1u << 20;  // longer expressions are refused

  // Returns the filter. If the expression is malformed, returns its rest from the error on, or the whole expression if
  // an operand or a parenthesis is missing. Cost: O(expression).
  static Result<AttributeFilter, std::string> Compile(Bytes expression);  // the error is the malformed part

  // Adds to `work` how many bytes were read. Returns nullopt if the computation, after the fields were found, reads
  // more than kMaxWork bytes: an expression may compare a long text many times. Cost: O(attributes * log(fields) +
  // program), plus the texts, lists and arrays that are compared.
  std::optional<bool> Matches(Bytes attributes,
                              uint64_t& work) const;  // true: an element with these attributes matches
  static constexpr uint64_t kMaxWork = 4u << 20;      // bytes that a computation may read

 private:
  enum class Op : uint8_t {
    kNumber,
    kText,
    kNull,
    kField,
    kList,
    kOr,
    kAnd,
    kEqual,
    kNotEqual,
    kLess,
    kGreater,
    kLessEqual,
    kGreaterEqual,
    kIn,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kPower,
    kNot,
    kOpen,  // an open parenthesis, only while compiling
  };
  struct Step {         // an operation of the program, or a value
    Op op;              // what is done
    double number = 0;  // for kNumber: the value
    // Where the value begins. For kText: the offset of the text in expression_. For kField: the offset of the name, and
    // after compiling the index in fields_. For kList: the index of the first value in list_values_.
    uint32_t begin = 0;  // where the text or name begins, or the index of the field or of the first value
    uint32_t size = 0;   // for kText and kField: bytes of the text or name; for kList: number of values
  };
  struct Value;
  class Compiler;
  class Evaluation;

  Bytes TextOf(const Step& step) const {  // the part of the expression that has the text or the field's name
    return Bytes(expression_).substr(step.begin, step.size);
  }
  void CollectFields();  // fills fields_ with the fields of the program, whose steps get their index
  Value ConstantOf(const Step& step) const;  // the value of a number, text, null or list
  // Reads the fields of the expression from `attributes`. Unescaped texts are put into `buffers`, to which the values
  // refer. Returns false if one is missing.
  bool ReadFields(Bytes attributes, std::vector<Value>& values,  // reads all fields; false: one is missing
                  std::forward_list<std::string>& buffers, uint64_t& work) const;

  std::string expression_;         // the text of the filter
  std::vector<Step> program_;      // the operations in postfix order
  std::vector<Step> fields_;       // the fields of the expression, each once, sorted by name
  std::vector<Step> list_values_;  // the values of all lists such as [1, "a"], one after the other: kNumber and kText
  size_t depth_ = 0;               // the greatest number of values on the stack
};

}  // namespace respite
