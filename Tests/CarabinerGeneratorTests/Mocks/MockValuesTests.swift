import CarabinerWire
import Foundation
import GeneratedSample
import TestTools
import Testing

@testable import Carabiner

@Suite("Generated mocks")
struct MockValuesTests {
  private func roundTrip<Value: SelectionSet>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
  }

  @Test("the listing of the guide for embedding has the values that it sets", .rule("generate.12"))
  func guide() throws {
    let book = Mock<Book>(title: "Solaris")
    book.author = Mock<Person>(name: "Lem")
    let data = try BookQuery.Data.from(Mock<Query>(book: book))
    #expect(data.book?.title == "Solaris" && data.book?.author?.name == "Lem")
  }

  @Test("fields that are not set have values by their type, the same at each call", .rule("generate.12"))
  func stableValues() throws {
    let data = try BookQuery.Data.from(Mock<Query>())
    let book = try #require(data.book)
    #expect((book.__typename, book.id, book.title) == ("Book", "id", "title"))
    #expect((book.genre, book.genres) == (.case(.novel), [.case(.novel)]))
    #expect(book.lent == Date(timeIntervalSince1970: 946_684_800))
    #expect(book.printings == [[book.lent]])
    #expect(book.page == URL(string: "https://example.com/"))
    #expect(book.cost == 1)
    #expect(BookQuery.Data.Book.json(of: book)?["isLent"] == true)
    #expect(book.author?.books.map(\.title) == ["title"])
    #expect(book.reviews?.first?.stars == 1)
    #expect(try BooksQuery.Data.from(Mock<Query>()).shelves == [[.from(Mock<Book>())]])
    #expect(try BookQuery.Data.from(Mock<Query>()) == data)
    #expect(try roundTrip(data) == data)
  }

  @Test("each operation and each fragment reads its data from mocks", .rule("generate.12"))
  func operations() throws {
    func check<Value: SelectionSet>(_ type: Value.Type, _ mock: any AnyMock) throws {
      for withConditional in [true, false] {
        let value = try Value.from(mock, withConditional: withConditional)
        #expect(try Value.from(mock, withConditional: withConditional) == value)
        if withConditional { #expect(try roundTrip(value) == value) }
      }
    }
    try check(BookQuery.Data.self, Mock<Query>())
    try check(BooksQuery.Data.self, Mock<Query>())
    try check(NodeQuery.Data.self, Mock<Query>())
    try check(SearchQuery.Data.self, Mock<Query>())
    try check(WordsQuery.Data.self, Mock<Query>())
    try check(AddReviewMutation.Data.self, Mock<Mutation>())
    try check(ReviewAddedSubscription.Data.self, Mock<Subscription>())
    try check(BookTitle.self, Mock<Book>())
    try check(WorkDetails.self, Mock<Recording>())
    try check(Author.self, Mock<Person>())
    try check(BookQuery.Data.Book.Review.self, Mock<Review>())
  }

  @Test("fields that are set have their values, in the initializer or later", .rule("generate.12"))
  func givenValues() throws {
    let day = Date(timeIntervalSince1970: 1_769_860_800)
    let mock = Mock<Book>(
      cost: 2.5, genres: [.unknown("POEM")], lent: day, printings: [[day, day], nil],
      reviews: [Mock(stars: 5), Mock(self: "me")],
      title: "Solaris")
    mock.author = Mock(name: "Lem")
    mock.author?.name = "Stanisław Lem"
    mock.page = URL(string: "https://example.org/")
    let book = try BookQuery.Data.Book.from(mock)
    #expect((book.title, book.cost, book.lent, book.genres) == ("Solaris", 2.5, day, [.unknown("POEM")]))
    #expect(book.printings == [[day, day], nil])
    #expect(book.author?.fragments.author.name == "Stanisław Lem")
    #expect(book.page?.host() == "example.org")
    #expect(book.reviews?.map(\.stars) == [5, 1])
    #expect(book.reviews?.map(\.`self`) == ["self", "me"])
    #expect(mock.title == "Solaris")
    #expect((mock.cost, mock.lent, mock.isLent) == (2.5, day, nil as Bool?))
  }

  @Test("a field that is set to nil is null", .rule("generate.12"))
  func null() throws {
    let mock = Mock<Book>(title: "Eden")
    (mock.genre, mock.author, mock.printings) = (nil, nil, nil)
    let book = try BookQuery.Data.Book.from(mock)
    #expect((book.genre, book.author?.name, book.printings) == (nil, nil, nil))
    #expect(try roundTrip(book) == book)
  }

  @Test("mocks may refer to each other in circles", .rule("generate.12"))
  func circles() throws {
    let (author, book) = (Mock<Person>(name: "Lem"), Mock<Book>(title: "Eden"))
    author.books = [book, book]
    book.author = author
    #expect(try BookQuery.Data.Book.from(book).author?.books.map(\.title) == ["Eden", "Eden"])
  }

  @Test("an interface and a union have the first type of the schema, or any that is set", .rule("generate.12"))
  func abstractTypes() throws {
    #expect(try SearchQuery.Data.from(Mock<Query>()).search?.map { $0?.__typename } == ["Book"])
    let found: [(any AnyMock)?] = [Mock<Recording>(minutes: 3), nil, Mock<Person>(name: "Lem")]
    let data = try SearchQuery.Data.from(Mock<Query>(search: found))
    #expect(data.search?.map { $0?.__typename } == ["Recording", nil, "Person"])
    #expect(data.search?[0]?.asWork?.asRecording?.minutes == 3)
    #expect(data.search?[2]?.asPerson?.name == "Lem")
    #expect(try NodeQuery.Data.from(Mock<Query>()).node?.asBookIfNotShort?.related?[0]?.title == "title")
  }

  @Test("parts with @include, @skip and @defer are there, or left out on request", .rule("generate.12"))
  func conditions() throws {
    let all = try NodeQuery.Data.from(Mock<Query>(node: Mock<Person>(name: "Lem"))).node
    #expect((all?.ifNotShort?.again, all?.asPerson?.fragments.author?.name) == ("again", "Lem"))
    let few = try NodeQuery.Data.from(Mock<Query>(node: Mock<Person>(name: "Lem")), withConditional: false).node
    #expect((few?.ifNotShort?.again, few?.asPerson?.fragments.author?.name) == (nil, nil))
    #expect(few?.asPerson?.fragments.$author == .pending)
    let mock = Mock<Book>(published: .distantPast)
    #expect(try BookQuery.Data.Book.from(mock).published == .distantPast)
    #expect(try BookQuery.Data.Book.from(mock, withConditional: false).published == nil)
  }

  @Test("fields with names of Swift can be set", .rule("generate.12"))
  func words() throws {
    let words = Mock<WordsMock>(as: 1, await: 2, self: Mock(id: "7"), string: .case(.none), type: Mock(id: "8"))
    words.`super` = 3
    let data = try WordsQuery.Data.from(Mock<Query>(words: words))
    #expect((data.words?.as, data.words?.await, data.words?.super) == (1, 2, 3))
    #expect((data.words?.`self`?.id, data.words?.type.id, data.words?.data.first?.id) == ("7", "8", "id"))
    let review = Mock<Review>(init: 4, self: "me")
    #expect((review.`init`, review[dynamicMember: \.`self`]) == (4, "me"))
  }

  // MARK: Faults

  private struct Odd: ResponseValue, GraphQLValue, Decodable {
    struct Fault: Error {}

    init(from decoder: any Decoder) throws { throw Fault() }

    static func json(of value: Odd) -> JSONValue? { nil }
  }

  private struct OddPerson: MockObject {
    static let typeName = "Person"
    let name = MockField<Odd>("name")
  }

  private final class Other: AnyMock {}

  @Test("a mock that does not fit names the field, and what to do", .rule("generate.12"))
  func faults() throws {
    func message<Value: SelectionSet>(_ type: Value.Type, _ mock: any AnyMock) -> String? {
      #expect(throws: MockError.self) { try Value.from(mock) }?.description
    }
    let book = Mock<Book>()
    book.title = nil
    #expect(message(BookTitle.self, book)?.hasPrefix("the value of Book.title does not fit BookTitle; set another one") == true)
    let expected =
      "Query has no field id in its mock; give a mock of the type that the selection is on, or generate the mocks again"
    #expect(message(BookTitle.self, Mock<Query>()) == expected)
    #expect(message(Author.self, Mock<OddPerson>()) == "no value of the type of Person.name is known; set the field of the mock")
    #expect(message(Author.self, Other()) == "Other is not a Mock; give a Mock")
  }
}
