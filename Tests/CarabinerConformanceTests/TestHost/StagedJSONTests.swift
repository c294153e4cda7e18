import Testing

@testable import CarabinerConformance

@Suite("JSON that a plugin stages")
struct StagedJSONTests {
  @Test(
    "is accepted as a host accepts it",
    arguments: [
      (#"{"a":1}"#, true), (#"{"a":"\ud800"}"#, true), (#"{"a":"\\ud800"}"#, true), (#"{"a":"\uD83D\uDE00 \udc00"}"#, true),
      (#"{"a":1"#, false), ("[]", false), (#"{"a":}"#, false), ("", false),
    ])
  func objects(_ text: String, _ isObject: Bool) {
    #expect((StagedJSON.object(Array(text.utf8)) != nil) == isObject)
  }

  @Test("is not judged if it is deeper than this program reads")
  func deep() {
    let lists = String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
    #expect(StagedJSON.object(Array("{\"a\":\(lists)}".utf8)) != nil)
    #expect(StagedJSON.object(Array("{\"a\":\(lists)".utf8)) == nil)
  }
}
