// JsonPathParser: reads a path or an expression (see json_path.h and json_expression.h) by recursive descent.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "datatypes/json/json_expression.h"
#include "datatypes/json/json_path.h"

namespace respite {

class JsonPathParser {  // parses one JSONPath
 public:
  JsonPathParser(Bytes text, JsonPathGrammar grammar) : text_(text), grammar_(grammar) {}

  bool ParsePath();        // reads steps after "$"; false: the text is malformed, or has something else after them
  bool ParseExpression();  // reads a path or a computation; false: the text is malformed
  JsonPath TakePath();     // the result; requires: ParsePath or ParseExpression has returned true
  size_t ErrorOffset() const { return at_; }                  // where the text is malformed
  bool IsExpression() const { return computed_ != nullptr; }  // true: the text is a computation, not a plain path

 private:
  using Node = std::unique_ptr<JsonExpression>;

  // Functions that return a Node return null if the text is malformed. The functions for operators stand in order of
  // precedence, the weakest operator first. Each reads its operands by calling the next function.
  Node ReadOr();                                        // reads operands with || between them
  Node ReadAnd();                                       // reads operands with && between them
  Node ReadNot();                                       // reads an operand with ! before it, or without
  Node ReadComparison();                                // reads an operand, or two with ==, <, in … between them
  Node ReadSum();                                       // reads operands with + or - between them
  Node ReadProduct();                                   // reads operands with *, / or % between them
  Node ReadSigned();                                    // reads an operand with its signs, such as -@.a
  Node ReadMethodCalls();                               // reads an operand and the calls after it, such as .length()
  Node ReadOperand();                                   // reads a path, a literal, a call, or a group in parentheses
  Node ReadCall(JsonFunction function, Node receiver);  // reads after "name("; `receiver`: first argument, or null
  Node ReadJsonLiteral();                               // reads an array or an object
  Node ReadNumberLiteral();                             // reads an integer or a double
  Node MakeBinary(JsonOperator op, Node left, Node right);  // makes the node of an operator with two operands

  // The functions from here to ReadIndex return false if the text is malformed.
  bool ReadSteps(JsonSteps& steps);         // reads all steps that follow: .name, [0] …
  bool ReadFirstStep(JsonSteps& steps);     // reads steps after @ or $; the first name may have no dot
  bool ReadDotStep(JsonStep& step);         // reads the step after "." or "..": a name, * or [
  bool ReadBracket(JsonStep& step);         // reads after "[" until "]"
  bool ReadNames(JsonStep& step);           // reads names in quotes with commas between them
  bool ReadIndexesOrSlice(JsonStep& step);  // reads indexes with commas between them, or first:end:step
  bool ReadSliceAfter(JsonStep& step, std::optional<int64_t> start);  // reads a slice after its first number
  bool ReadString(std::string& text);                                 // reads a text in either kind of quotes
  bool ReadEscape(std::string& text);     // reads what follows a backslash, and appends the character to `text`
  bool ReadCodePoint(std::string& text);  // reads the digits after "\u", and appends the character to `text`
  bool ReadIndex(int64_t& index);         // reads an integer with or without "-"
  Bytes ReadName();                       // reads a name after a dot; empty: there is none
  bool IsMethodCall();                    // true: ".name(" is next

  // The next byte, or the one `ahead` bytes after it; 0: the text has ended.
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Take(Bytes token) {  // true: the text continues with `token`, which is skipped
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool TakeWord(Bytes word);  // skips `word`, unless a letter or digit follows it; false: not skipped
  void SkipBlanks() {         // skips spaces, tabs and line ends
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  const Bytes text_;               // the whole text
  const JsonPathGrammar grammar_;  // decides whether ~ after a name is an operator
  size_t at_ = 0;                  // offset of the next byte to read
  size_t nesting_ = 0;             // parentheses, filters and functions that are open
  size_t operators_ = 0;           // number of operators so far
  JsonSteps steps_;                // the result of ParsePath, or of ParseExpression for a plain path
  Node computed_;                  // the parsed computation; null: the text is a plain path
};

}  // namespace respite
