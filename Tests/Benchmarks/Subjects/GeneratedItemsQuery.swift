// swift-format-ignore-file

internal import Carabiner

/// The operation of the mock response, as `carabiner generate` writes it.
struct GeneratedItemsQuery: GraphQLQuery, GeneratedOperation {
  static let operationName = "Items"
  static let document = Samples.itemsDocument
  static let documentHash = ""

  struct Data: SelectionSet {
    let items: [Item]

    init(reading object: ObjectReader) throws {
      items = try object.value("items")
    }

    func write(to object: inout ObjectWriter) {
      object.write("items", items)
    }

    struct Item: SelectionSet {
      let __typename: String
      let id: String
      let name: String
      let price: Double
      let inStock: Bool
      let tags: [String]

      init(reading object: ObjectReader) throws {
        __typename = try object.value("__typename")
        id = try object.value("id")
        name = try object.value("name")
        price = try object.value("price")
        inStock = try object.value("inStock")
        tags = try object.value("tags")
      }

      func write(to object: inout ObjectWriter) {
        object.write("__typename", __typename)
        object.write("id", id)
        object.write("name", name)
        object.write("price", price)
        object.write("inStock", inStock)
        object.write("tags", tags)
      }
    }
  }
}
