import Carabiner

/// The title of a book.
struct BookQuery: GraphQLQuery {
  struct Data: Decodable, Sendable {
    struct Book: Decodable, Sendable {
      let title: String
    }

    let book: Book?
  }

  let id: String

  var operationName: String? { "Book" }
  var document: String { "query Book($id: ID!) { book(id: $id) { id title } }" }
  var variables: JSONObject { ["id": .string(id)] }
}

/// Changes the title of a book.
struct RenameBookMutation: GraphQLMutation {
  struct Data: Decodable, Sendable {
    struct Book: Decodable, Sendable {
      let title: String
    }

    let renameBook: Book
  }

  let id: String
  let title: String

  var operationName: String? { "RenameBook" }
  var document: String { "mutation RenameBook($id: ID!, $title: String!) { renameBook(id: $id, title: $title) { id title } }" }
  var variables: JSONObject { ["id": .string(id), "title": .string(title)] }
}
