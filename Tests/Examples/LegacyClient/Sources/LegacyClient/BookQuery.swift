import CarabinerPipeline

/// The title of a book.
struct BookQuery: GraphQLQuery {
  struct Data: Decodable, Sendable {
    struct Book: Decodable, Sendable {
      let id: String
      let title: String
    }

    let book: Book?
  }

  let id: String

  var operationName: String? { "Book" }
  var document: String { "query Book($id: ID!) { book(id: $id) { id title } }" }
  var variables: JSONObject { ["id": .string(id)] }
}
