internal import Synchronization

/// A snapshot of a book.
struct Book: Sendable, Hashable {
  let id: String
  var title: String
  var subtitle: String?
  let year: Int
  let genre: String
  let rating: Double?
  let authorID: String
  var borrower: String?
}

/// An author of books.
struct Author: Sendable, Hashable {
  let id: String
  let name: String
  let born: Int?
}

/// The books and their borrowers.
final class Library: Sendable {
  /// The longest title or name in bytes, because stored texts are returned in many responses.
  static let maximumTextBytes = 1000

  let authors = [
    Author(id: "a1", name: "Ursula K. Le Guin", born: 1929), Author(id: "a2", name: "Stanisław Lem", born: 1921),
    Author(id: "a3", name: "Octavia E. Butler", born: 1947), Author(id: "a4", name: "Murasaki Shikibu", born: nil),
  ]
  private let state: Mutex<[Book]>

  /// A library with its initial books.
  init() {
    state = Mutex([
      Book(
        id: "1", title: "The Left Hand of Darkness", year: 1969, genre: "SCIENCE_FICTION", rating: 4.5, authorID: "a1"),
      Book(id: "2", title: "Solaris", year: 1961, genre: "SCIENCE_FICTION", rating: 4.25, authorID: "a2"),
      Book(id: "3", title: "Kindred", year: 1979, genre: "NOVEL", rating: 4.4, authorID: "a3"),
      Book(
        id: "4", title: "Steering the Craft", subtitle: "A 21st-century guide to sailing the sea of story", year: 1998,
        genre: "ESSAY", rating: nil, authorID: "a1"),
      Book(id: "5", title: "The Tale of Genji", year: 1021, genre: "NOVEL", rating: 4, authorID: "a4"),
    ])
  }

  var books: [Book] { state.withLock { $0 } }

  func book(_ id: String) -> Book? { books.first { $0.id == id } }

  func author(_ id: String) -> Author? { authors.first { $0.id == id } }

  func rename(_ id: String, to title: String) throws(FieldFailure) -> Book {
    guard !title.isEmpty, title.utf8.count <= Self.maximumTextBytes else {
      throw FieldFailure("a title has 1 to \(Self.maximumTextBytes) bytes", code: "BAD_USER_INPUT")
    }
    return try change(id) { (book) throws(FieldFailure) in book.title = title }
  }

  func lend(_ id: String, to borrower: String) throws(FieldFailure) -> Book {
    guard !borrower.isEmpty, borrower.utf8.count <= Self.maximumTextBytes else {
      throw FieldFailure("a borrower's name has 1 to \(Self.maximumTextBytes) bytes", code: "BAD_USER_INPUT")
    }
    return try change(id) { (book) throws(FieldFailure) in
      if let other = book.borrower { throw FieldFailure("\(other) has the book; returnBook first", code: "BORROWED") }
      book.borrower = borrower
    }
  }

  func takeBack(_ id: String) throws(FieldFailure) -> Book {
    try change(id) { (book) throws(FieldFailure) in
      guard book.borrower != nil else { throw FieldFailure("the book is not borrowed", code: "NOT_BORROWED") }
      book.borrower = nil
    }
  }

  private func change(_ id: String, _ body: (inout Book) throws(FieldFailure) -> Void) throws(FieldFailure) -> Book {
    try state.withLock { (books) throws(FieldFailure) in
      guard let position = books.firstIndex(where: { $0.id == id }) else {
        throw FieldFailure("there is no book with the id \(id.debugDescription); ask for books", code: "NOT_FOUND")
      }
      try body(&books[position])
      return books[position]
    }
  }
}
