import CarabinerSchema
import Testing

@testable import CarabinerDemoServer

@Suite("The schema of the demo server")
struct LibrarySchemaTests {
  @Test("the text of the library is a valid schema, and is printed as it was read")
  func library() throws {
    #expect(Schema.library.validate() == [])
    #expect(Schema.library.types.count == 10)
    #expect(try Schema(parsing: DemoServer.schema) == Schema.library)
    #expect(DemoServer.schema.hasPrefix("type Query {\n  books(filter: BookFilter, first: Int! = 100): [Book!]!\n"))
    #expect(DemoServer.schema.hasSuffix("\n  since: Int\n  isBorrowed: Boolean\n}\n"))
  }

  @Test("@defer is known with its arguments, and is not in the text of the library")
  func deferral() {
    #expect(Schema.deferral.directive(named: "defer")?.arguments.map(\.name) == ["if", "label"])
    #expect(Schema.library.directives == [])
  }
}
