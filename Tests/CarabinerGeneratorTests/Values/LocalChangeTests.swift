import Carabiner
import Foundation
import GeneratedSample
import TestTools
import Testing

@Suite("Generated local changes")
struct LocalChangeTests {
  private let change = ShelfChangeLocalCacheMutation(first: 2)

  /// A store with two books and their author.
  private func store(without name: String = "") async throws -> ApolloStore {
    let text = """
      {"books": [
        {"__typename": "Book", "id": "1", "title": "Eden", "published": null, "lent": "2026-01-31T12:00:00Z", "genre": "NOVEL",
          "author": {"__typename": "Person", "id": "9", "name": "Lem", "books": [{"__typename": "Book", "id": "3", "title": "Fiasco"}]},
          "related": [{"__typename": "Recording", "id": "5", "title": "Tape", "minutes": 3}, null]},
        {"__typename": "Book", "id": "2", "title": "Solaris", "published": null, "lent": "2026-01-31T12:00:00Z", "genre": "CRIME",
          "author": null, "related": []}
      ]}
      """
    var data = try JSONValue(parsing: text)
    if !name.isEmpty, case .array(let books)? = data["books"] {
      data = ["books": .array(books.map { book in .object(JSONObject((book.object ?? [:]).filter { $0.key != name })) })]
    }
    let store = ApolloStore()
    let query = DynamicOperation(document: ShelfChangeLocalCacheMutation.document, variables: change.variables)
    try await store.withinReadWriteTransaction { [data] in try await $0.write(data, for: query) }
    return store
  }

  @Test("a property that is set is written to the store", .rule("generate.11"))
  func fields() async throws {
    let store = try await store()
    let day = Date(timeIntervalSince1970: 0)
    #expect(
      try await store.update(change) { (data: inout ShelfChangeLocalCacheMutation.Data) in
        data.books[0].title = "Invincible"
        (data.books[0].published, data.books[0].lent, data.books[0].genre) = (day, day, nil)
        data.books[1].genre = .case(.novel)
      })
    let data = try await store.load(change)?.data
    #expect(data?.books.map(\.title) == ["Invincible", "Solaris"])
    #expect((data?.books[0].published, data?.books[0].lent) == (day, day))
    #expect(data?.books.map(\.genre) == [nil, .case(.novel)])
  }

  @Test("the listing of the guide for embedding changes a book and its author", .rule("generate.11"))
  func guide() async throws {
    let store = try await store()
    try await store.update(ShelfChangeLocalCacheMutation(first: 2)) { data in
      data.books[0].title = "Solaris"
      data.books[0].author?.fragments.personChange.name = "Lem"
    }
    let book = try await store.load(change)?.data?.books[0]
    #expect(book?.title == "Solaris" && book?.author?.name == "Lem")
  }

  @Test("a view, a fragment and their object have the same values, before and after a write", .rule("generate.11"))
  func parts() async throws {
    let store = try await store()
    try await store.update(change) { (data: inout ShelfChangeLocalCacheMutation.Data) in
      data.books[0].author?.fragments.personChange.name = "Stanisław Lem"
      #expect(data.books[0].author?.name == "Stanisław Lem")
      #expect(data.books[0].fragments.bookTitle.author?.name == "Stanisław Lem")
      data.books[0].related?[0]?.asRecording?.minutes = 4
      data.books[0].related?[0]?.title = "Disc"
      #expect(data.books[0].related?[0]?.asRecording?.title == "Disc")
      data.books[0].related?[0]?.asRecording?.title += "!"
      #expect(data.books[0].related?[0]?.title == "Disc!")
    }
    let book = try await store.load(change)?.data?.books[0]
    #expect(book?.author?.fragments.personChange.name == "Stanisław Lem")
    #expect((book?.related?[0]?.title, book?.related?[0]?.asRecording?.minutes) == ("Disc!", 4))
  }

  @Test("objects of a list keep all their members when they are moved", .rule("generate.11"))
  func lists() async throws {
    let store = try await store()
    try await store.update(change) { (data: inout ShelfChangeLocalCacheMutation.Data) in
      data.books.reverse()
      data.books[1].related?.removeLast()
    }
    let books = try await store.load(change)?.data?.books
    #expect(books?.map(\.id) == ["2", "1"])
    #expect(books?[1].related?.map { $0?.asRecording?.minutes } == [3])
    #expect(books?.map { $0.fragments.bookTitle.author?.name } == [nil, "Lem"])
  }

  @Test("an optional field that the store lacks is nil, and stays unknown unless it is set", .rule("generate.11"))
  func unknownFields() async throws {
    let store = try await store(without: "genre")
    let document = "query ($first: Int) { books(first: $first) { genre } }"
    let genres = DynamicOperation(document: document, variables: change.variables)
    let isChanged = try await store.update(change) { (data: inout ShelfChangeLocalCacheMutation.Data) in
      #expect(data.books[0].genre == nil)
      data.books[0].title = "Invincible"
    }
    #expect(isChanged)
    #expect(try await store.load(genres) == nil)
    try await store.update(change) { (data: inout ShelfChangeLocalCacheMutation.Data) in
      for index in data.books.indices { data.books[index].genre = .case(.novel) }
    }
    #expect(try await store.load(genres)?.data == ["books": [["genre": "NOVEL"], ["genre": "NOVEL"]]])
  }

  @Test("a fragment changes the object under a key", .rule("generate.11"))
  func fragment() async throws {
    let store = try await store()
    let isChanged = try await store.withinReadWriteTransaction { transaction in
      try await transaction.updateObject(ofType: PersonChange.self, withKey: "Person:9") { person in
        person.name = "Stanisław Lem"
        person.books[0].title = "Invincible"
      }
    }
    #expect(isChanged)
    let book = try await store.load(change)?.data?.books[0]
    #expect((book?.author?.name, book?.author?.books.map(\.title)) == ("Stanisław Lem", ["Invincible"]))
  }

  @Test("fields and fragments with @include, @skip and @defer can be set", .rule("generate.11"))
  func conditions() throws {
    var data = try NodeChangeLocalCacheMutation.Data.from(Mock<Query>(node: Mock<Book>(published: .distantPast)))
    #expect(data.node?.asBookIfNotAll?.published == .distantPast)
    data.node?.asBookIfNotAll?.published = nil
    data.node?.asBookIfNotAll?.pages = 7
    data.node?.asBookIfNotAll?.fragments.later?.price = 2.5
    data.node?.asBookIfNotAll?.reviews[0].`self` = "me"
    data.node?.asBookIfNotAll?.reviews[0].`init` = 3
    data.node?.asWorkIfAll?.title = "Eden"
    let book = data.node?.asBookIfNotAll
    #expect((book?.published, book?.pages, book?.fragments.later?.price) == (nil, 7, 2.5))
    #expect((book?.reviews.first?.`self`, book?.reviews.first?.`init`) == ("me", 3))
    #expect(data.node?.asWorkIfAll?.fragments.workDetails.title == "Eden")
    var person = try NodeChangeLocalCacheMutation.Data.from(Mock<Query>(node: Mock<Person>()))
    person.node?.asPerson?.fragments.personChange?.name = "Lem"
    #expect(person.node?.asPerson?.fragments.personChange?.fragments.author.name == "Lem")
    #expect(try JSONDecoder().decode(NodeChangeLocalCacheMutation.Data.self, from: try JSONEncoder().encode(data)) == data)
  }

  @Test("the directive is not sent, and data can be made from mocks", .rule("generate.11"))
  func mocks() throws {
    #expect(!ShelfChangeLocalCacheMutation.document.contains("@") && !PersonChange.document.contains("@"))
    var person = try PersonChange.from(Mock<Person>(name: "Lem"))
    person.name += "!"
    #expect((person.name, person.fragments.author.name) == ("Lem!", "Lem!"))
    #expect(PersonChange.json(of: person)?.object?.map(\.key).sorted() == ["__typename", "books", "id", "name"])
  }
}
