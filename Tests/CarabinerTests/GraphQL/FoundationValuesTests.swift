import Carabiner
import Foundation
import Testing

@Suite("Types of Foundation in a typed result")
struct FoundationValuesTests {
  private struct Query: GraphQLQuery {
    struct Data: Decodable, Sendable {
      let bytes: Foundation.Data
      let link: URL?
      let price: Decimal
      let dates: [Date]
      let nothing: URL?
    }

    var operationName: String? { nil }
    var document: String { "{ bytes link price dates nothing }" }
  }

  private static let whole =
    #"{"bytes":"AQID","link":"https://example.com/a?b=c","price":12345678901234567890.12,"dates":[7,0.5],"nothing":null}"#

  private func decoded(_ data: String) throws -> Query.Data? {
    try GraphQLResponse<Query>(body: ResponseBody(Data(#"{"data":\#(data)}"#.utf8))).data
  }

  @Test("they are what Foundation's decoder makes of them")
  func values() throws {
    let ours = try #require(try decoded(Self.whole))
    let foundation = try JSONDecoder().decode(Query.Data.self, from: Data(Self.whole.utf8))
    #expect(ours.bytes == foundation.bytes && ours.bytes == Data([1, 2, 3]))
    #expect(ours.link == foundation.link && ours.link?.host() == "example.com")
    #expect(ours.price == foundation.price && ours.price == Decimal(string: "12345678901234567890.12"))
    #expect(ours.dates == foundation.dates && ours.dates.count == 2)
    #expect(ours.nothing == nil)
  }

  @Test(
    "a value of another type is a mismatch",
    arguments: [
      (#""AQID""#, #""*""#), (#""AQID""#, "[1,2]"), (#""https://example.com/a?b=c""#, "1"), ("12345678901234567890.12", #""1""#),
    ])
  func misfits(old: String, new: String) throws {
    let text = Self.whole.replacingOccurrences(of: old, with: new)
    let error = #expect(throws: ResponseParsingError.self) { try decoded(text) }
    #expect(error?.code == .dataMismatch)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Query.Data.self, from: Data(text.utf8)) }
  }
}
