internal import CarabinerSchema

extension Schema {
  /// A small library whose fields cover every kind of response that a client must handle.
  ///
  /// A test checks that the text is a valid schema, so the value is never empty.
  static let library = (try? Schema(parsing: libraryText)) ?? .empty

  /// `@defer` of the draft for incremental delivery. It is not a part of the text that clients get.
  static let deferral = (try? Schema(parsing: deferralText)) ?? .empty

  private static let deferralText =
    "directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT"

  private static let libraryText = """
    type Query {
      books(filter: BookFilter, first: Int! = 100): [Book!]!
      book(id: ID!): Book
      booksByID(ids: [ID!]!): [Book]!
      authors: [Author!]!
      author(id: ID!): Author
      node(id: ID!): Node
      search(text: String!): [SearchResult!]!
      shelf: Shelf
      failing: String
      secret: String
      slow(seconds: Float! = 1): String!
      echoHeader(name: String!): String
    }

    type Mutation {
      renameBook(id: ID!, title: String!): Book!
      borrowBook(id: ID!, by: String!): Book!
      returnBook(id: ID!): Book!
    }

    type Subscription {
      countdown(from: Int! = 3, everyMilliseconds: Int! = 100, failAt: Int): Int!
    }

    type Book implements Node {
      id: ID!
      title: String!
      subtitle: String
      year: Int!
      genre: Genre!
      rating: Float
      author: Author!
      borrower: String
      isBorrowed: Boolean!
      review(afterMilliseconds: Int! = 50): String
    }

    type Author implements Node {
      id: ID!
      name: String!
      born: Int
      books: [Book!]!
    }

    type Shelf {
      room: String!
      label: String!
    }

    interface Node {
      id: ID!
    }

    union SearchResult = Book | Author

    enum Genre {
      NOVEL
      SCIENCE_FICTION
      ESSAY
    }

    input BookFilter {
      genre: Genre
      title: String
      since: Int
      isBorrowed: Boolean
    }
    """
}
