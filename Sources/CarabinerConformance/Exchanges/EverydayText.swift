internal import CarabinerWire

/// Texts of users and servers with a typical form, such as an e-mail address. Many plugins look for such forms.
enum EverydayText {
  static let all = [
    "4111111111111111", "5500 0000 0000 0004", "378282246310005", "ann.lee@example.org", "+49 151 12345678", "(555) 010-4477",
    "078-05-1120",
    "DE89 3704 0044 0532 0130 00", "10.0.0.1", "2001:db8::1", "http://example.org/a?b=c&d=e#f", "https://example.org",
    "/home/ann/file.txt",
    "2026-10-21T07:28:00Z", "21.10.2026", "1,234.56", "12.50 EUR", "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl", "password=secret", "<b>Tom & Jerry's</b>", "SELECT * FROM books; --",
    "true", "null",
    "Ünïcödé \u{1F468}\u{200D}\u{1F469}", "e\u{301}", "\u{202E}abc", "a\tb\r\nc", "  two  spaces  ",
  ]

  /// JSON with these texts as values: of members whose names are words of the plugin, and inside lists and objects.
  static func object(_ words: Vocabulary) -> String {
    let texts = all.map(\.json)
    let own = words.names.enumerated().map { "\"\($1)\":\(texts[$0 % texts.count])" }
    let others = texts.enumerated().map { "\"text\($0)\":\($1)" }
    let sentences = JSONValue.array(all.map { .string("a \($0) \($0)b") }).serializedText
    return
      "{\((own + others).joined(separator: ",")),\"list\":[\(texts.joined(separator: ","))],\"deep\":[{\"texts\":\(sentences)}]}"
  }
}

extension String {
  /// The text as a JSON string with its quotation marks, which GraphQL reads as well.
  var json: String { JSONValue.string(self).serializedText }
}
