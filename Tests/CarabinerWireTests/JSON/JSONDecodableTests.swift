import CarabinerWire
import Foundation
import Testing

@Suite("JSON values come out of decoders")
struct JSONDecodableTests {
  private struct Typed: Decodable {
    let id: Int
    let free: JSONValue
    let missing: JSONValue?
  }

  @Test("a typed result can have a field of any shape")
  func anyShape() throws {
    let text = #"{"id":1,"free":{"a":[null,true,-2,1.5,18446744073709551615,"s",{}],"n":null}}"#
    let typed = try JSONDecoder().decode(Typed.self, from: Data(text.utf8))
    #expect(typed.id == 1)
    #expect(typed.free == (try JSONValue(parsing: text))["free"])
    #expect(typed.missing == nil)
  }

  @Test("single values can be decoded", arguments: ["null", "false", "7", "0.25", #""s""#, "[]", "{}"])
  func single(text: String) throws {
    #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == JSONValue(parsing: text))
  }
}
