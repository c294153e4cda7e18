import CarabinerWire
import Foundation
import GeneratedSample
import TestTools
import Testing

@testable import Carabiner

@Suite("Generated code")
struct GeneratedValuesTests {
  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  private func roundTrip<Value: SelectionSet>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
  }

  @Test("a variable that is not given, null and a value are different", .rule("generate.2"))
  func variables() {
    #expect(BooksQuery().variables == [:])
    #expect(BooksQuery(filter: .null, first: 3).variables == ["filter": .null, "first": 3])
    #expect(AddReviewMutation(review: ReviewInput(bookID: "1", stars: 5)).variables == ["review": ["bookID": "1", "stars": 5]])
    #expect(BookQuery(id: "1").variables == ["id": "1"])
    #expect(BookQuery(id: "1", withReviews: true).variables == ["id": "1", "withReviews": true])
    let optional: Int? = nil
    #expect(BooksQuery(first: optional ?? .null).variables == ["first": .null])
  }

  @Test("an operation has its kind, name, document and hash", .rule("generate.2"))
  func constants() {
    let operation = BookQuery(id: "1")
    #expect(operation.operationType == .query)
    #expect(operation.operationName == "Book")
    #expect(operation.document == BookQuery.document)
    #expect(BookQuery.documentHash.count == 64)
    #expect(ReviewAddedSubscription(bookID: .none).operationType == .subscription)
  }

  @Test("input objects keep null, and values that contain themselves", .rule("generate.6"))
  func inputObjects() {
    var filter = BookFilter(title: .null, genreIn: [.case(.novel), .unknown("POEM")], not: .some(BookFilter(limit: 1)))
    #expect(
      SearchQuery(by: .filter(filter)).variables == [
        "by": ["filter": ["title": nil, "genre_in": ["NOVEL", "POEM"], "not": ["limit": 1]]]
      ])
    filter.not = .none
    filter.title = "a"
    #expect(BooksQuery(filter: .some(filter)).variables == ["filter": ["title": "a", "genre_in": ["NOVEL", "POEM"]]])
    #expect(SearchQuery(by: .title("a")).variables == ["by": ["title": "a"]])
  }

  @Test("custom scalars have the types of the configuration", .rule("generate.6"))
  func scalars() {
    let day = Date(timeIntervalSince1970: 1_769_860_800)
    #expect(
      BookQuery(id: "1", on: .some(day), from: day).variables == [
        "id": "1", "on": "2026-01-31T12:00:00Z", "from": "2026-01-31T12:00:00Z",
      ])
    #expect(BookQuery(id: "1", on: .null).variables == ["id": "1", "on": nil])
    #expect(
      BooksQuery(filter: .some(BookFilter(since: .some(day), days: [day, nil]))).variables == [
        "filter": ["since": "2026-01-31T12:00:00Z", "days": ["2026-01-31T12:00:00Z", nil]]
      ])
    #expect(SearchQuery(by: .published(day)).variables == ["by": ["published": "2026-01-31T12:00:00Z"]])
  }

  @Test(
    "data reads itself from the text of a response, in any order of fields, and equals what a decoder reads", .rule("generate.9"))
  func text() throws {
    func data(_ text: String) throws -> BookQuery.Data {
      try BookQuery.data(reading: ValueReader(JSONTapeDecoder(reading: Array(text.utf8))))
    }
    func reversed(_ json: JSONValue) -> JSONValue {
      switch json {
      case .object(let object): .object(object.members.reversed().reduce(into: JSONObject()) { $0[$1.key] = reversed($1.value) })
      case .array(let elements): .array(elements.map(reversed))
      default: json
      }
    }
    let read = try data(book)
    #expect(try read == self.read(BookQuery.Data.self, book))
    #expect(try read == data(reversed(JSONValue(parsing: book)).description))
    // Escapes in names, and members between the others that are not selected.
    let spelled = book.replacing("\"title\":", with: "\"other\": {\"title\": [1]}, \"t\\u0069tle\":")
    #expect(try spelled != book && read == data(spelled))
    #expect(try JSONTape.graphQLData(BookQuery.Data.self, from: Array(book.utf8)) == read)
  }

  @Test(
    "a value that does not fit is an error with its path", .rule("generate.9"),
    arguments: [
      ("\"title\": \"Eden\"", "\"other\": 1", "book.author.books[0].title is missing"),
      ("\"stars\": 5", "\"stars\": \"5\"", "at the field book.reviews[0].stars"),
      ("[\"NOVEL\"]", "\"NOVEL\"", "at the field book.genres"), ("[\"NOVEL\"]", "[null]", "at the field book.genres[0]"),
      ("{\"__typename\": \"Person\"", "[], \"old\": {\"__typename\": \"Person\"", "at the field book.author"),
      ("\"https://example.com/1\"", "1", "at the field book.page"),
      ("\"2026-02-01T00:00:00Z\"", "\"today\"", "at the field book.lent"),
    ])
  func misfits(old: String, new: String, message: String) throws {
    let text = book.replacing(old, with: new)
    #expect(text != book)
    let response = try GraphQLResponse<BookQuery>(json: ["data": JSONValue(parsing: text)])
    let error = #expect(throws: ResponseParsingError.self) { try response.data }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test("unknown values of enumerations survive", .rule("generate.6"))
  func enumerations() throws {
    #expect(Genre.allCases.map(\.rawValue) == ["NOVEL", "SCIENCE_FICTION", "default", "CRIME"])
    let genres: [GraphQLEnum<Genre>] = [.case(.scienceFiction), .unknown("POEM")]
    #expect(genres.map { GraphQLEnum.json(of: $0) } == ["SCIENCE_FICTION", "POEM"])
  }

  private let book = """
    {"book": {"__typename": "Book", "id": "1", "title": "Solaris", "genre": "POEM", "genres": ["NOVEL"], "type": null, "published": "2026-01-31T12:00:00Z",
      "printings": [["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.500Z"], null], "page": "https://example.com/1", "lent": "2026-02-01T00:00:00Z",
      "isLent": true, "cost": 2.5, "author": {"__typename": "Person", "name": "Lem", "books": [{"__typename": "Book", "title": "Eden"}]},
      "reviews": [{"__typename": "Review", "stars": 5, "self": "me", "init": 1, "object": true, "hash": "h", "class": null}]}}
    """

  @Test("an object has its fields and those of its fragments, and survives a round trip", .rule("generate.3"))
  func objects() throws {
    let data = try read(BookQuery.Data.self, book)
    let book = try #require(data.book)
    #expect(book.title == "Solaris")
    #expect(book.id == book.fragments.bookTitle.id)
    #expect(book.fragments.workTitle.author?.name == "Lem")
    #expect(book.author?.books.first?.title == "Eden")
    #expect(book.author?.fragments.author.name == "Lem")
    #expect(book.genre == .unknown("POEM"))
    #expect(book.genres == [.case(.novel)])
    #expect(book.published == Date(timeIntervalSince1970: 1_769_860_800))
    #expect(book.printings?[0]?[1] == Date(timeIntervalSince1970: 1_769_860_800.5))
    #expect(book.printings?[1] == nil)
    #expect(book.page?.host() == "example.com")
    #expect(book.reviews?.first?.`self` == "me")
    #expect(book.reviews?.first?.`init` == 1)
    #expect(try roundTrip(data) == data)
    #expect(Set([data, data]).count == 1)
    #expect(BookQuery.Data.json(of: data) == (try JSONValue(parsing: self.book)))
  }

  @Test("names that mean something in Swift have their values", .rule("generate.7"))
  func words() throws {
    let text = """
      {"words": {"__typename": "Words", "as": 1, "async": 2, "await": 3, "case": 4, "default": 5, "super": 6, "true": 7, "unsafe": 8,
        "string": "class", "Type": {"__typename": "Self", "id": "1", "result": "none"}, "data": [], "any": null,
        "self": {"__typename": "Self", "id": "2", "result": null}}}
      """
    let data = try read(WordsQuery.Data.self, text)
    let words = try #require(data.words)
    #expect(words.await == 3)
    #expect(words.super == 6)
    #expect(words.type.fragments.type.result == .case(.none))
    #expect(words.`self`?.id == "2")
    #expect(try roundTrip(data) == data)
    #expect(
      WordsQuery(in: 1, for: .some(.case(.where)), default: .some(WordsInput(object: 2)), object: nil).variables == [
        "in": 1, "for": "where", "default": ["object": 2],
      ])
  }

  @Test("a missing field, or null for a required one, is an error", .rule("generate.3"))
  func faults() throws {
    for text in [book.replacing("\"genre\": \"POEM\", ", with: ""), book.replacing("\"Solaris\"", with: "null")] {
      #expect(throws: DecodingError.self) { try read(BookQuery.Data.self, text) }
    }
  }

  @Test("views are there for objects of their type", .rule("generate.3"))
  func views() throws {
    let data = try read(
      SearchQuery.Data.self,
      """
      {"search": [{"__typename": "Book", "id": "1", "title": "Eden", "pages": 9}, null, {"__typename": "Person", "id": "2", "name": "Lem"}]}
      """)
    let found = try #require(data.search)
    #expect(found.count == 3)
    #expect(found[0]?.asWork?.asBook?.pages == 9)
    #expect(found[0]?.asWork?.fragments.workDetails.asBook?.title == "Eden")
    #expect(found[0]?.asWork?.asRecording == nil)
    #expect(found[0]?.asPerson == nil)
    #expect(found[2]?.asPerson?.name == "Lem")
    #expect(found[2]?.asNode?.id == "2")
    #expect(try roundTrip(data) == data)
  }

  @Test("a view with a condition is there if its fields are", .rule("generate.4"))
  func conditions() throws {
    let all = try read(
      NodeQuery.Data.self,
      """
      {"node": {"__typename": "Book", "id": "1", "title": "Eden", "pages": 9, "genre": null, "related": [], "again": "1"}}
      """)
    #expect(all.node?.asWorkIfDetails?.asBook?.pages == 9)
    #expect(all.node?.asBookIfNotShort?.related == [])
    #expect(all.node?.asBookIfNotShort?.fragments.workDetails?.title == "Eden")
    #expect(all.node?.ifNotShort?.again == "1")
    #expect(try roundTrip(all) == all)
    let few = try read(NodeQuery.Data.self, #"{"node": {"__typename": "Book", "id": "1"}}"#)
    #expect(few.node?.id == "1")
    #expect(few.node?.asWorkIfDetails == nil)
    #expect(few.node?.asBookIfNotShort == nil)
    #expect(few.node?.ifNotShort == nil)
    #expect(try roundTrip(few) == few)
  }

  @Test("a deferred fragment is pending until its fields have come", .rule("generate.5"))
  func deferred() throws {
    let before = try read(NodeQuery.Data.self, #"{"node": {"__typename": "Person", "id": "1", "again": "1"}}"#)
    let pending = try #require(before.node?.asPerson)
    #expect(pending.fragments.books == nil)
    #expect(pending.fragments.$books == .pending)
    let after = try read(
      NodeQuery.Data.self, #"{"node": {"__typename": "Person", "id": "1", "again": "1", "name": "Lem", "books": []}}"#)
    let person = try #require(after.node?.asPerson)
    #expect(person.fragments.books?.books == [])
    #expect(person.fragments.author?.name == "Lem")
    if case .fulfilled(let author) = person.fragments.$author { #expect(author.name == "Lem") } else { Issue.record() }
    #expect(try roundTrip(after) == after)
  }
}
