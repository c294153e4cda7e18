// The configuration of a plugin: JSON that the host has already parsed and validated.
#ifndef CARABINER_CONFIG_HPP
#define CARABINER_CONFIG_HPP

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure.hpp"

namespace crb {

/// A borrowed JSON value. A member that is missing or null is returned as nothing; a member of another type throws Failure.
class Config {
 public:
  explicit Config(std::string_view json) noexcept : json_(json) {}

  /// The JSON text, unchanged.
  std::string_view json() const noexcept { return json_; }

  /// A member of an object; nothing if it is missing or null.
  std::optional<Config> operator[](std::string_view name) const {
    for (auto &[key, value] : members()) {
      if (key == name && value.trimmed() != "null") return value;
    }
    return std::nullopt;
  }
  std::optional<std::string> text(std::string_view name) const { return at(name, &Config::as_text); }
  std::optional<int64_t> integer(std::string_view name) const { return at(name, &Config::as_integer); }
  std::optional<double> number(std::string_view name) const { return at(name, &Config::as_number); }
  std::optional<bool> boolean(std::string_view name) const { return at(name, &Config::as_boolean); }

  std::string as_text() const {
    size_t offset = 0;
    std::string text = string(offset);
    if (skip_space(offset) != json_.size()) wrong("a string");
    return text;
  }
  int64_t as_integer() const {
    const std::string_view digits = trimmed();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) wrong("an integer of 64 bits");
    return value;
  }
  double as_number() const {
    const std::string digits(trimmed());
    char *end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || end != digits.c_str() + digits.size()) wrong("a number");
    return value;
  }
  bool as_boolean() const {
    const std::string_view word = trimmed();
    if (word != "true" && word != "false") wrong("true or false");
    return word == "true";
  }
  /// The elements of an array.
  std::vector<Config> elements() const {
    std::vector<Config> found;
    size_t offset = open('[', "an array");
    while (json_[skip_space(offset)] != ']') {
      const size_t start = offset;
      skip_value(offset);
      found.emplace_back(json_.substr(start, offset - start));
      next(offset, ']');
    }
    return found;
  }
  /// The members of an object, including those that are null.
  std::vector<std::pair<std::string, Config>> members() const {
    std::vector<std::pair<std::string, Config>> found;
    size_t offset = open('{', "an object");
    while (json_[skip_space(offset)] != '}') {
      std::string key = string(offset);
      expect(offset, ':');
      const size_t start = skip_space(offset);
      skip_value(offset);
      found.emplace_back(std::move(key), Config(json_.substr(start, offset - start)));
      next(offset, '}');
    }
    return found;
  }

 private:
  template <class Type>
  std::optional<Type> at(std::string_view name, Type (Config::*read)() const) const {
    const auto value = (*this)[name];
    if (!value) return std::nullopt;
    try {
      return ((*value).*read)();
    } catch (const Failure &failure) {
      throw Failure(std::string(name) + ": " + failure.what());
    }
  }

  [[noreturn]] static void wrong(const char *wanted) { throw Failure(std::string("the configuration has not got ") + wanted + " here"); }

  char byte(size_t offset) const {
    if (offset >= json_.size()) wrong("its end");
    return json_[offset];
  }
  size_t skip_space(size_t &offset) const {
    while (offset < json_.size() && std::string_view(" \t\r\n").find(json_[offset]) != std::string_view::npos) offset++;
    return offset;
  }
  std::string_view trimmed() const {
    size_t start = 0;
    skip_space(start);
    size_t end = json_.size();
    while (end > start && std::string_view(" \t\r\n").find(json_[end - 1]) != std::string_view::npos) end--;
    return json_.substr(start, end - start);
  }
  /// The offset after the opening bracket and white space. Throws Failure unless the value starts with the bracket.
  size_t open(char bracket, const char *wanted) const {
    size_t offset = 0;
    if (skip_space(offset) >= json_.size() || json_[offset] != bracket) wrong(wanted);
    byte(skip_space(++offset));
    return offset;
  }
  void expect(size_t &offset, char wanted) const {
    if (byte(skip_space(offset)) != wanted) wrong("a separator");
    offset++;
  }
  /// Moves to the next element or to the closing bracket.
  void next(size_t &offset, char closing) const {
    if (byte(skip_space(offset)) == closing) return;
    expect(offset, ',');
    byte(skip_space(offset));
  }
  void skip_value(size_t &offset) const {
    size_t depth = 0;
    do {
      const char first = byte(skip_space(offset));
      if (first == '"') {
        skip_string(offset);
      } else if (first == '{' || first == '[') {
        depth++;
        offset++;
      } else if (first == '}' || first == ']') {
        if (depth == 0) wrong("a value");
        depth--;
        offset++;
      } else {
        offset++;
        while (depth == 0 && offset < json_.size() && std::string_view(",]} \t\r\n").find(json_[offset]) == std::string_view::npos) offset++;
      }
    } while (depth > 0);
  }
  void skip_string(size_t &offset) const {
    for (offset++; byte(offset) != '"'; offset++) {
      if (json_[offset] == '\\') byte(++offset);
    }
    offset++;
  }

  std::string string(size_t &offset) const {
    if (byte(skip_space(offset)) != '"') wrong("a string");
    std::string text;
    for (offset++; byte(offset) != '"'; offset++) {
      if (json_[offset] != '\\') {
        text += json_[offset];
        continue;
      }
      const char escape = byte(++offset);
      static constexpr std::string_view letters = "bfnrt", controls = "\b\f\n\r\t";
      if (escape == 'u') {
        character(offset, text);
      } else if (const size_t index = letters.find(escape); index != std::string_view::npos) {
        text += controls[index];
      } else {
        text += escape;
      }
    }
    offset++;
    return text;
  }
  /// Appends the character of an escape sequence, which can be a surrogate pair. `offset` is at the u, and then at the last digit.
  void character(size_t &offset, std::string &text) const {
    uint32_t code = unit(offset);
    if (code >= 0xD800 && code < 0xDC00) {
      if (byte(offset + 1) != '\\' || byte(offset + 2) != 'u') wrong("the second half of a character");
      offset += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(offset) & 0x3FF);
    }
    const auto add = [&text](uint32_t bits) { text += static_cast<char>(bits); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
      add(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        add(0xE0 | code >> 12);
      } else {
        add(0xF0 | code >> 18);
        add(0x80 | (code >> 12 & 0x3F));
      }
      add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
  }
  uint32_t unit(size_t &offset) const {
    byte(offset + 4);
    uint32_t code = 0;
    const char *start = json_.data() + offset + 1;
    const auto [end, error] = std::from_chars(start, start + 4, code, 16);
    if (error != std::errc() || end != start + 4) wrong("four hexadecimal digits");
    offset += 4;
    return code;
  }

  std::string_view json_;
};

}  // namespace crb

#endif
