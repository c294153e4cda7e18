import Testing

@testable import CarabinerWire

@Suite("Printable texts")
struct PrintableTextTests {
  @Test(
    "characters that act on a terminal, end a line or reorder it are escaped",
    arguments: [
      ("\u{1B}[2J", #"\u001b[2J"#), ("a\nb\r\tc", #"a\nb\r\tc"#), ("\u{7F}", #"\u007f"#), ("\0", #"\u0000"#),
      // CSI and next line of 8-bit terminals, separators of lines and paragraphs.
      ("\u{9B}31m", #"\u009b31m"#), ("\u{85}", #"\u0085"#), ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#),
      ("\u{202E}gnp.exe\u{2066}\u{200F}\u{61C}", #"\u202egnp.exe\u2066\u200f\u061c"#), ("\u{FEFF}\u{AD}", #"\ufeff\u00ad"#),
      // A tag, beyond the first plane.
      ("\u{E0041}", #"\udb40\udc41"#),
    ])
  func escaped(_ text: String, _ printable: String) { #expect(PrintableText.escaping(text) == printable) }

  @Test("texts of people are unchanged", arguments: ["", "plain text", "ü é 漢字 ع 🎉", #"C:\new "quoted""#])
  func unchanged(_ text: String) {
    #expect(PrintableText.escaping(text) == text)
    #expect(PrintableText.escaping(text, keepsLines: true) == text)
  }

  @Test("lines and columns stay if they are wanted")
  func lines() { #expect(PrintableText.escaping("a\n\tb\r\u{9B}", keepsLines: true) == "a\n\tb\\r\\u009b") }

  @Test("bytes that are not UTF-8 are replaced, also one that is a control character by itself")
  func bytes() {
    #expect(PrintableText.escaping([0x61, 0x9B, 0x33, 0xC2, 0x9B, 0xFF]) == "a\u{FFFD}3\\u009b\u{FFFD}")
  }

  @Test("a JSON text means the same")
  func json() throws {
    let value: JSONValue = ["a\u{202E}": "\u{9B}\u{E0041}\n"]
    let text = String(decoding: value.serialized(pretty: true), as: UTF8.self)
    let printable = PrintableText.escaping(text, keepsLines: true)
    #expect(try JSONValue(parsing: printable) == value)
  }
}
