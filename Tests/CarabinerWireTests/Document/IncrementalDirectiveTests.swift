import CarabinerWire
import Testing

@Suite("Whether a document may defer or stream")
struct IncrementalDirectiveTests {
  @Test(
    "@defer and @stream are found, whatever is around them",
    arguments: [
      "{ a { ...F @defer } }", "{ a { ... @defer(label: \"x\", if: $y) { b } } }", "{ l @stream(initialCount: 1) }", "{l@stream}",
      "{ ...F @ defer }", "{ ...F @,\t\n\u{FEFF}defer }", "{ ...F @ # comment\n # another\r stream }",
      "{ a @include(if: true) ...F @defer",
      "@defer", "{ aaaaaaaaaaaaaaaaaa @a @b @c @stream }", "{ é ... @defer { b } }", "",
    ])
  func found(document: String) { #expect(document.mayBeIncremental) }

  @Test(
    "other documents do neither",
    arguments: [
      "{ a }", "query defer { stream }", "{ a @include(if: $defer) }", "{ a @deferred }", "{ a @stream_ }", "{ a @defer1 }",
      "{ a @ }",
      "{ a @", "@", "{ a @def", "@ #defer", "query Q($stream: Int) @live { a(b: \"x\") }",
      "{ aaaaaaaaaa @skip(if: true) bbbbbbbb @x }",
    ])
  func notFound(document: String) { #expect(!document.mayBeIncremental) }

  @Test("the sign is found at every place of a long document")
  func places() {
    for count in 0..<40 {
      let text = String(repeating: "x", count: count)
      #expect((text + " @defer " + text).mayBeIncremental)
      #expect(!(text + " @other " + text).mayBeIncremental)
    }
  }
}
