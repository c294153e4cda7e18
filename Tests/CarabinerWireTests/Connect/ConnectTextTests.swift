import CarabinerWire
import TestTools
import Testing

@Suite("Texts of the Connect protocol")
struct ConnectTextTests {
  @Test(
    "base64 is read in both alphabets, with and without padding",
    arguments: [
      ("", [] as [UInt8]?), ("Zg==", [0x66]), ("Zg", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm8", [0x66, 0x6F]),
      ("Zm9v", [0x66, 0x6F, 0x6F]), ("-_8", [0xFB, 0xFF]), ("+/8=", [0xFB, 0xFF]), ("Zg=", nil), ("Z", nil), ("====", nil),
      ("Z===", nil), ("Zm 9v", nil), ("Zm9v=", nil), ("Zm=v", nil), ("é", nil),
    ])
  func base64(text: String, bytes: [UInt8]?) {
    #expect(Base64.decoded(text) == bytes)
  }

  @Test("bytes in base64 are read as what they were", arguments: 0..<10)
  func base64Again(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ 250) }
    let text = Base64.urlEncoded(bytes)
    #expect(Base64.decoded(text) == bytes)
    #expect(!text.contains("=") && !text.contains("+") && !text.contains("/"))
    let padded = Base64.encoded(bytes)
    #expect(Base64.decoded(padded) == bytes)
    #expect(padded.utf8.count % 4 == 0 && !padded.contains("-") && !padded.contains("_"))
  }

  @Test(
    "a query has its items in order, after those of the URL", .rule("connect.35"),
    arguments: [
      (nil, nil, "connect=v1&base64=1&encoding=json&message=e30"),
      ("", "gzip", "connect=v1&base64=1&compression=gzip&encoding=json&message=e30"),
      ("a=b%20c", nil, "a=b%20c&connect=v1&base64=1&encoding=json&message=e30"),
      (nil, "my zip&é", "connect=v1&base64=1&compression=my%20zip%26%C3%A9&encoding=json&message=e30"),
    ])
  func query(existing: String?, compression: String?, query: String) {
    #expect(ConnectQuery.text(behind: existing, codec: "json", compression: compression, message: Array("{}".utf8)) == query)
  }

  @Test(
    "a field is divided at commas outside quotes, unless it is not a list", .rule("connect.41"),
    arguments: [
      ("x-a", "1", ["1"]), ("x-a", " 1 ,\t2,3 ", ["1", "2", "3"]), ("x-a", "", [""]), ("x-a", ",, ,", [""]),
      ("x-a", "1,,2", ["1", "2"]),
      ("x-a", #""1,2",3"#, [#""1,2""#, "3"]), ("x-a", #""1\",2",3"#, [#""1\",2""#, "3"]), ("x-a", #"1\,2"#, [#"1\"#, "2"]),
      ("x-a", #"1,"2,3"#, ["1", #""2,3"#]), ("x-a-bin", "AAA,BBB", ["AAA", "BBB"]),
      ("date", "Mon, 23 Nov 2026 02:00:00 GMT", ["Mon, 23 Nov 2026 02:00:00 GMT"]),
      ("expires", " a, b ", ["a, b"]), ("last-modified", "a, b", ["a, b"]), ("set-cookie", "a, b", ["a, b"]),
      ("retry-after", "a, b", ["a, b"]), ("user-agent", "a, b", ["a, b"]), ("server", "a, b", ["a, b"]),
      ("www-authenticate", "a, b", ["a, b"]),
    ])
  func values(name: String, value: String, values: [String]) {
    #expect(HeaderFields.values(of: value, for: name) == values)
  }

  @Test("spellings of a name are one field", .rule("connect.38"))
  func merged() {
    #expect(HeaderFields.merged(["X-A": ["1", "2"], "x-a": ["3"], "Y": []]) == ["x-a": ["1", "2", "3"], "y": []])
  }

  @Test(
    "an error is read as far as it has the expected types", .rule("connect.43", "connect.44"),
    arguments: [
      ("{}", nil, nil, []), (#"{"code": "not_found", "message": "no"}"#, "not_found", "no", []),
      (#"{"code": null, "message": ""}"#, nil, "", []), (#"{"code": 5, "message": {}, "details": {}}"#, nil, nil, []),
      (#"{"code": "a", "code": "b"}"#, "b", nil, []),
      (
        #"{"details": [{"type": "a.B", "value": "AQ", "debug": {"x": 1}}, {"type": "c", "value": "!"}, {"value": "AQ"}, 7, {"type": "d"}]}"#,
        nil, nil,
        [.init(type: "a.B", payload: [1]), .init(type: "c", payload: nil), .init(type: "d", payload: nil)]
      ),
    ] as [(String, String?, String?, [ConnectErrorBody.Detail])])
  func errors(text: String, code: String?, message: String?, details: [ConnectErrorBody.Detail]) throws {
    let body = try #require(ConnectErrorBody(parsing: Array(text.utf8)))
    #expect(body.code == code)
    #expect(body.message == message)
    #expect(body.details == details)
  }

  @Test(
    "only a JSON object is an error or the end of a stream", .rule("connect.43", "connect.51"),
    arguments: ["", "[]", "null", "7", "{", #"{"message": "\ud800"}"#, String(repeating: #"{"a":"#, count: 100_000)])
  func notErrors(text: String) {
    #expect(ConnectErrorBody(parsing: Array(text.utf8)) == nil)
    #expect(EndOfStream(parsing: Array(text.utf8)) == nil)
  }

  @Test("ten thousand details are read", .rule("connect.44"))
  func manyDetails() throws {
    let details = Array(repeating: #"{"type":"a.B","value":"AQ=="}"#, count: 10_000).joined(separator: ",")
    let body = try #require(ConnectErrorBody(parsing: Array(#"{"code":"internal","details":[\#(details)]}"#.utf8)))
    #expect(body.details == Array(repeating: .init(type: "a.B", payload: [1]), count: 10_000))
  }

  @Test(
    "the end of a stream has an error or none, and trailers", .rule("connect.51"),
    arguments: [
      ("{}", false, [:]), (#"{"error": null}"#, false, [:]), (#"{"error": {}}"#, true, [:]),
      (#"{"metadata": {"X-A": ["1", 2, "3"], "x-a": ["4"], "b": "5", "c": []}}"#, false, ["x-a": ["1", "3", "4"]]),
      (#"{"metadata": []}"#, false, [:]),
    ] as [(String, Bool, [String: [String]])])
  func ends(text: String, isError: Bool, metadata: [String: [String]]) throws {
    let end = try #require(EndOfStream(parsing: Array(text.utf8)))
    #expect((end.error != nil) == isError)
    #expect(end.metadata == metadata)
  }

  @Test("an error that is not an object makes the end of a stream malformed", arguments: ["[]", "7", #""a""#, "false"])
  func malformedEnds(error: String) {
    #expect(EndOfStream(parsing: Array(#"{"error": \#(error)}"#.utf8)) == nil)
  }
}
