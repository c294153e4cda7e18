import CarabinerSchema
import CarabinerWire

/// A schema with `@cost` and `@listSize`, made of the examples of the GraphQL Cost Directives Specification.
enum CostSample {
  static let schema = """
    directive @cost(weight: String!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR
    directive @listSize(
      assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true
    ) on FIELD_DEFINITION
    directive @approx(tolerance: Float! @cost(weight: "-1.0")) on FIELD
    type Query {
      users(max: Int): [User] @listSize(slicingArguments: ["max"])
      topProducts(filter: Filter @cost(weight: "15.0")): [String] @cost(weight: "5.0") @listSize(assumedSize: 10)
      mostPopularProduct(approx: Approximate @cost(weight: "-3.0")): Product @cost(weight: "5.0")
      films(first: Int, after: ID, last: Int): FilmConnection
        @listSize(slicingArguments: ["first", "last"], sizedFields: ["edges", "nodes"])
      page(size: Int = 20, from: Int): [User] @listSize(slicingArguments: ["size", "from"], requireOneSlicingArgument: false)
      some(limit: Int): [User] @listSize(assumedSize: 7, slicingArguments: ["limit"], requireOneSlicingArgument: false)
      ten: FilmConnection @listSize(assumedSize: 10, sizedFields: ["edges"])
      plain(first: Int): [User] node: Node any: Any color: Color dates: [Date] @listSize(assumedSize: 4)
    }
    type User { name: String age: Int @cost(weight: "2.0") friends(first: Int): [User] }
    input Filter { approx: Approximate @cost(weight: "-12.0") inner: Filter all: [Filter!] name: String }
    enum Approximate { YES }
    enum Color @cost(weight: "0.5") { RED }
    scalar Date @cost(weight: "2")
    interface Node { id: ID users(max: Int): [User] }
    type Product implements Node @cost(weight: "3") {
      id: ID @cost(weight: "4") users(max: Int): [User] @listSize(slicingArguments: ["max"], assumedSize: 9)
    }
    type Film implements Node { id: ID title: String users(max: Int): [User] }
    union Any = Product | Film
    type FilmConnection { edges: [FilmEdge] nodes: [Film] pageInfo: PageInfo }
    type FilmEdge { node: Film cursor: String }
    type PageInfo { hasNext: Boolean }
    """

  static func measures(_ text: String, schema: String = schema) throws -> DocumentMeasures {
    let pricing = SchemaPricing(try Schema(parsing: schema), listArguments: ["first", "last", "limit"])
    return try DocumentMeasures(parsing: text, limits: GraphQLLimits(maximumTokens: 200_000), pricing: pricing)
  }

  /// The costs of an operation, the first one if it is not named.
  static func costs(_ text: String, _ variables: JSONObject = [:], operation: Int = 0) throws -> OperationCosts {
    let measures = try measures(text)
    return measures.costs(of: measures.operations[operation], variables: variables)
  }
}
