#include "json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace json {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, int depth) : text_(text), depth_(depth) {}

  /// Reads a value, and appends its form to `out` if there is one.
  bool value(std::string *out) {
    skip_space();
    switch (peek()) {
      case '{': return nested([&] { return object(out); });
      case '[': return nested([&] { return array(out); });
      case '"': return copied(out, [&] { return string(); });
      case 't': return copied(out, [&] { return word("true"); });
      case 'f': return copied(out, [&] { return word("false"); });
      case 'n': return copied(out, [&] { return word("null"); });
      default: return copied(out, [&] { return number(); });
    }
  }
  bool is_at_end() {
    skip_space();
    return offset_ == text_.size();
  }
  char first() {
    skip_space();
    return peek();
  }

 private:
  /// NUL at the end of the text: a NUL within it is not JSON either.
  char peek(size_t ahead = 0) const { return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0'; }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    offset_++;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') offset_++;
  }
  bool is_digit() const { return peek() >= '0' && peek() <= '9'; }

  template <class Read>
  bool nested(Read read) {
    if (depth_ == 0) return false;
    depth_--;
    const bool is_valid = read();
    depth_++;
    return is_valid;
  }
  template <class Read>
  bool copied(std::string *out, Read read) {
    const size_t start = offset_;
    if (!read()) return false;
    if (out) out->append(text_.substr(start, offset_ - start));
    return true;
  }

  bool object(std::string *out) {
    std::vector<std::pair<std::string_view, std::string>> members;
    offset_++;
    skip_space();
    if (!take('}')) {
      do {
        skip_space();
        const size_t start = offset_;
        if (!string()) return false;
        const std::string_view name = text_.substr(start, offset_ - start);
        skip_space();
        if (!take(':')) return false;
        if (out) members.emplace_back(name, std::string());
        if (!value(out ? &members.back().second : nullptr)) return false;
        skip_space();
      } while (take(','));
      if (!take('}')) return false;
    }
    if (!out) return true;
    std::stable_sort(members.begin(), members.end(), [](const auto &one, const auto &other) { return one.first < other.first; });
    char separator = '{';
    for (const auto &[name, text] : members) {
      *out += separator;
      *out += name;
      *out += ':';
      *out += text;
      separator = ',';
    }
    *out += members.empty() ? "{}" : "}";
    return true;
  }

  bool array(std::string *out) {
    offset_++;
    if (out) *out += '[';
    skip_space();
    if (!take(']')) {
      for (bool is_first = true; is_first || take(','); is_first = false) {
        if (out && !is_first) *out += ',';
        if (!value(out)) return false;
        skip_space();
      }
      if (!take(']')) return false;
    }
    if (out) *out += ']';
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    while (offset_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[offset_]);
      if (byte == '"') return take('"');
      if (byte < 0x20) return false;
      if (byte == '\\' ? !escape() : byte < 0x80 ? !take(text_[offset_]) : !character(byte)) return false;
    }
    return false;
  }
  bool escape() {
    offset_++;
    const char letter = peek();
    if (letter == '\0' || std::string_view("\"\\/bfnrtu").find(letter) == std::string_view::npos) return false;
    offset_++;
    for (int digits = letter == 'u' ? 4 : 0; digits > 0; digits--) {
      const char digit = peek();
      if (!((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F'))) return false;
      offset_++;
    }
    return true;
  }
  /// A character of two to four bytes: not too long a form, no surrogate, not beyond U+10FFFF.
  bool character(unsigned char first) {
    const int more = first >= 0xC2 && first <= 0xDF ? 1 : first >= 0xE0 && first <= 0xEF ? 2 : first >= 0xF0 && first <= 0xF4 ? 3 : 0;
    if (more == 0) return false;
    const auto second = static_cast<unsigned char>(peek(1));
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return false;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;
    for (int index = 1; index <= more; index++) {
      if ((static_cast<unsigned char>(peek(static_cast<size_t>(index))) & 0xC0) != 0x80) return false;
    }
    offset_ += static_cast<size_t>(more) + 1;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return true;
  }
  bool digits() {
    if (!is_digit()) return false;
    while (is_digit()) offset_++;
    return true;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(offset_, wanted.size()) != wanted) return false;
    offset_ += wanted.size();
    return true;
  }

  const std::string_view text_;
  /// How many levels may follow.
  int depth_;
  size_t offset_ = 0;
};

}  // namespace

bool is_object(std::string_view text) {
  Scanner scanner(text, 256);
  return scanner.first() == '{' && scanner.value(nullptr) && scanner.is_at_end();
}

std::optional<std::string> canonical(std::string_view text) {
  std::string out;
  Scanner scanner(text, 64);
  if (!scanner.value(&out) || !scanner.is_at_end()) return std::nullopt;
  return out;
}

}  // namespace json
