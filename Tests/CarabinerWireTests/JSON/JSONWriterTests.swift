import CarabinerWire
import Testing

@Suite("JSON is written")
struct JSONWriterTests {
  @Test(
    "strings are escaped where they must be and nowhere else",
    arguments: [
      ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\n\r\t", #""\n\r\t""#),
      ("\0\u{1f}\u{b}", #""\u0000\u001f\u000b""#),
      ("é😀\u{7f}\u{2028}", "\"é😀\u{7f}\u{2028}\""),
    ])
  func strings(string: String, expected: String) {
    var text: [UInt8] = [UInt8(ascii: ">")]
    JSONWriter.appendString(string, to: &text)
    #expect(String(decoding: text, as: UTF8.self) == ">" + expected)
  }

  @Test("compact text has no spaces")
  func compact() {
    let value: JSONValue = ["b": [1, 2.5, nil, true], "a": [:], "c": []]
    #expect(value.description == #"{"b":[1,2.5,null,true],"a":{},"c":[]}"#)
  }

  @Test("sorted keys are in the order of their code points, at every level")
  func sortedKeys() {
    let value: JSONValue = [
      "b": ["z": 1, "Z": 2, "é": 3], "a": 0, "": 1, "aa": 2, "\u{10000}": 4, "\u{ffff}": 5,
    ]
    let text = String(decoding: value.serialized(sortedKeys: true), as: UTF8.self)
    #expect(
      text == "{\"\":1,\"a\":0,\"aa\":2,\"b\":{\"Z\":2,\"z\":1,\"é\":3},\"\u{ffff}\":5,\"\u{10000}\":4}")
  }

  @Test("pretty text has one element a line")
  func pretty() {
    let value: JSONValue = ["data": ["a": [1, ["b": nil]], "e": [:], "f": []]]
    let expected = """
      {
        "data": {
          "a": [
            1,
            {
              "b": null
            }
          ],
          "e": {},
          "f": []
        }
      }
      """
    #expect(String(decoding: value.serialized(pretty: true), as: UTF8.self) == expected)
  }
}
