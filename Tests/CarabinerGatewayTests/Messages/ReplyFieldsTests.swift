import Carabiner
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("The header fields of a response")
struct ReplyFieldsTests {
  private func text(_ fields: ReplyFields) -> [String] { fields.list.map { "\($0.name): \($0.value)" } }

  @Test("setting a field removes all others of its name in any case, and keeps the rest in order")
  func set() {
    var fields: ReplyFields = ["X-A": "1", "x-b": "2", "X-B": "3", "X-C": "4", "X-b": "5"]
    fields.set("X-B", "6")
    #expect(text(fields) == ["X-A: 1", "X-C: 4", "X-B: 6"])
    fields.set("X-D", "7")
    fields.add("X-A", "8")
    #expect(text(fields) == ["X-A: 1", "X-C: 4", "X-B: 6", "X-D: 7", "X-A: 8"])
    fields.remove("x-a")
    #expect(text(fields) == ["X-C: 4", "X-B: 6", "X-D: 7"])
  }

  @Test("a list of NIO is taken over in order, with duplicates")
  func conversion() {
    let headers: NIOHTTP1.HTTPHeaders = ["Set-Cookie": "a", "X": "y", "set-cookie": "b"]
    #expect(text(ReplyFields(headers)) == ["Set-Cookie: a", "X: y", "set-cookie: b"])
  }
}
