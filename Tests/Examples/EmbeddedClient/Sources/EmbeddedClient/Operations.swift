import Carabiner

/// The title of a book, and its authors.
struct BookQuery: GraphQLQuery {
  struct Data: Decodable, Sendable {
    struct Author: Decodable, Sendable {
      let name: String
    }

    struct Book: Decodable, Sendable {
      let title: String
      let author: Author
    }

    let book: Book?
  }

  let id: String

  var operationName: String? { "Book" }
  var document: String { "query Book($id: ID!) { book(id: $id) { title author { name } } }" }
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
  var document: String { "mutation RenameBook($id: ID!, $title: String!) { renameBook(id: $id, title: $title) { title } }" }
  var variables: JSONObject { ["id": .string(id), "title": .string(title)] }
}
