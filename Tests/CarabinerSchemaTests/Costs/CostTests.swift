import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Costs of operations")
struct CostTests {
  @Test("the schema of the samples is valid", .rule("validate.6"))
  func schema() throws { #expect(try Schema(parsing: CostSample.schema).validate() == []) }

  @Test(
    "weights of fields, arguments, input fields, directives and types are added, each field at least zero", .rule("validate.6"),
    arguments: [
      ("{ users(max: 5) { age } }", 11, 6), ("{ users(max: 5) { name } }", 1, 6), ("{ topProducts }", 5, 1),
      ("{ topProducts(filter: {}) }", 20, 1), ("{ topProducts(filter: null) }", 5, 1),
      ("{ topProducts(filter: {approx: YES}) }", 8, 1), ("{ topProducts(filter: {approx: null, name: \"a\"}) }", 20, 1),
      ("{ topProducts(filter: {inner: {approx: YES}}) }", 9, 1),
      ("{ topProducts(filter: {all: [{approx: YES}, {approx: YES}]}) }", 0, 1),
      ("{ mostPopularProduct { id } }", 9, 4), ("{ mostPopularProduct(approx: YES) { id } }", 6, 4),
      ("{ users(max: 5) @approx(tolerance: 0.1) { name } }", 0, 6), ("{ color }", 0, 2), ("{ dates }", 0, 9),
    ])
  func weights(text: String, fields: Int, types: Int) throws {
    let costs = try CostSample.costs(text)
    #expect(costs.fields == fields && costs.types == types && costs.faults == [], "\(costs)")
    #expect(costs.highest == max(fields, types))
  }

  @Test(
    "interfaces and unions have the largest weights and list sizes of their object types", .rule("validate.6"),
    arguments: [
      ("{ node { id } }", 5, 4), ("{ any { __typename } }", 1, 4), ("{ any { ... on Film { id } ... on Product { id } } }", 5, 4),
      ("{ node { users { age } } }", 20, 13), ("{ node { users(max: 3) { age } } }", 8, 7),
    ])
  func abstractTypes(text: String, fields: Int, types: Int) throws {
    let costs = try CostSample.costs(text)
    #expect(costs.fields == fields && costs.types == types && costs.faults == [], "\(costs)")
  }

  @Test(
    "the size of a list is that of its largest slicing argument, or the assumed size", .rule("validate.6"),
    arguments: [
      ("{ page { age } }", 41), ("{ page(size: 5) { age } }", 11), ("{ page(size: 5, from: 30) { age } }", 61),
      ("{ page(size: null) { age } }", 3), ("{ page(size: -1) { age } }", 3), ("{ some { age } }", 15),
      ("{ some(limit: 3) { age } }", 7), ("{ some(limit: null) { age } }", 15), ("{ plain(first: 10) { age } }", 21),
      ("{ plain { age } }", 3), ("{ users(max: 3) { friends(first: 4) { age } } }", 1 + 3 * (1 + 4 * 2)),
      ("{ users(max: 99999999999) { friends(first: 99999999999) { age } } }", 1 << 53),
    ])
  func listSizes(text: String, fields: Int) throws {
    let costs = try CostSample.costs(text)
    #expect(costs.fields == fields && costs.faults == [], "\(costs)")
  }

  @Test(
    "sized fields have the size that the field above them states, also in fragments", .rule("validate.6"),
    arguments: [
      "{ films(first: 10) { edges { node { title } cursor } pageInfo { hasNext } } }",
      "{ films(last: 10) { ...C } } fragment C on FilmConnection { edges { ...E } ... { ...P } } fragment E on FilmEdge { node { id } }"
        + " fragment P on FilmConnection { pageInfo { hasNext } }",
      "{ films(last: 10) { ... on FilmConnection { ...C } pageInfo { hasNext } } }"
        + " fragment C on FilmConnection { ... { ...D } } fragment D on FilmConnection { edges { node { id } } }",
      "{ ten { edges { node { title } } pageInfo { hasNext } } }",
    ])
  func sizedFields(text: String) throws {
    let costs = try CostSample.costs(text)
    #expect(costs.fields == 13 && costs.types == 23 && costs.faults == [], "\(costs)")
  }

  @Test("a fragment is counted with the size of each field that spreads it", .rule("validate.6"))
  func sizedTwice() throws {
    let text = """
      query ($n: Int = 2) { films(first: $n) { ...C } x: films(first: 5) { ...C } y: ten { nodes { id } ...C } }
      fragment C on FilmConnection { edges { node { id } } nodes { id } }
      """
    // Each spread: edges and nodes, and for each edge its node. Film.id has no weight.
    #expect(try CostSample.costs(text).fields == (1 + 2 + 2) + (1 + 2 + 5) + (1 + 1 + 2 + 10))
    #expect(try CostSample.costs(text, ["n": 100]).fields == (1 + 2 + 100) + (1 + 2 + 5) + (1 + 1 + 2 + 10))
  }

  @Test("variables count with their values in the request, or with their default values", .rule("validate.6"))
  func variables() throws {
    let sized = "query ($n: Int = 3, $m: Int) { films(first: $n, last: $m) { edges { node { title } } } }"
    #expect(try CostSample.costs(sized).fields == 5)
    #expect(try CostSample.costs(sized, ["n": 10]).fields == 12)
    #expect(try CostSample.costs(sized, ["n": .null, "m": 4]).fields == 6)
    let page = "query ($n: Int) { page(size: $n) { age } }"
    #expect(try CostSample.costs(page).fields == 41 && CostSample.costs(page, ["n": 2]).fields == 5)
    #expect(try CostSample.costs(page, ["n": .null]).fields == 3)
    let filter = "query ($f: Filter = {}) { topProducts(filter: $f) }"
    #expect(try CostSample.costs(filter).fields == 20 && CostSample.costs(filter, ["f": .null]).fields == 5)
    #expect(try CostSample.costs(filter, ["f": ["approx": "YES"]]).fields == 8)
    #expect(try CostSample.costs(filter, ["f": ["all": [["approx": "YES"], ["approx": nil], ["inner": [:]]]]]).fields == 10)
    let inner = "query ($f: Filter, $a: Approximate) { topProducts(filter: {inner: $f, approx: $a}) }"
    #expect(try CostSample.costs(inner).fields == 20 && CostSample.costs(inner, ["f": ["inner": [:]], "a": "YES"]).fields == 10)
  }

  @Test(
    "if one slicing argument is required, none and several are faults of the operations that have the field", .rule("validate.6"))
  func oneSlicingArgument() throws {
    let none = "Query.films needs exactly one of the arguments first, last, and 0 are given; give one"
    let two = "Query.films needs exactly one of the arguments first, last, and 2 are given; give one"
    #expect(try CostSample.costs("{ films { pageInfo { hasNext } } x: films { pageInfo { hasNext } } }").faults == [none])
    #expect(try CostSample.costs("{ films(first: 1, last: 2) { edges { cursor } } }").faults == [two])
    #expect(try CostSample.costs("{ users { age } }").faults.count == 1)
    let text = """
      query A($n: Int, $m: Int) { ...F } query B { color ...G }
      fragment F on Query { films(first: $n, last: $m) { edges { cursor } } } fragment G on Query { users(max: 1) { age } }
      """
    #expect(try CostSample.costs(text).faults == [none] && CostSample.costs(text, ["n": 1, "m": 2]).faults == [two])
    #expect(try CostSample.costs(text, ["m": 2]).faults == [])
    #expect(try CostSample.costs(text, operation: 1).faults == [])
  }

  @Test("introspection has the default weights, and a field that is not defined costs as without a schema", .rule("validate.6"))
  func otherFields() throws {
    let introspection = try CostSample.costs("{ __schema { types { name } } __typename }")
    #expect(introspection.fields == 2 && introspection.types == 3)
    #expect(try CostSample.costs("{ nothing { x(first: 3) { y } } }").fields == 5)
  }

  @Test(
    "a weight may be a text or a number, and another text has no effect", .rule("validate.6"),
    arguments: [("\"2.5\"", 3), ("2", 2), ("0.5", 1), ("\"formula\"", 1), ("\"1e400\"", 1), ("\"-5\"", 0), ("\"1e30\"", 1 << 53)])
  func weightTexts(weight: String, fields: Int) throws {
    let schema = "type Query { a: [Query] @cost(weight: \(weight)) b: Int @cost(weight: \"0\") }"
    let measures = try CostSample.measures("{ a { b } }", schema: schema)
    #expect(measures.costs(of: measures.operations[0], variables: [:]).fields == fields)
  }

  @Test("one walk counts depth, aliases, fields and tokens too", .rule("validate.6"))
  func sizes() throws {
    let text = "{ x: films(first: 2) { ...C } color } fragment C on FilmConnection { edges { y: node { id @skip(if: true) } } }"
    let measures = try CostSample.measures(text)
    let size = measures.operations[0].size
    #expect(size.depth == 4 && size.aliases == 2 && size.fields == 5 && size.rootFields == 2 && size.directives == 1)
    #expect(try measures.tokens == GraphQLTokens(of: text).count)
  }

  @Test(
    "without the directives each operation has the cost that it has without a schema", .rule("validate.6"), arguments: [1, 2])
  func noDirectives(seed: UInt64) throws {
    let pricing = SchemaPricing(try Schema(parsing: InvalidDocument.schema), listArguments: ["first", "x"])
    #expect(!pricing.hasWeights)
    var generator = RandomDocument(seed: seed)
    for _ in 0..<300 {
      guard let document = try? GraphQLDocument(parsing: generator.document()),
        let expected = try? DocumentMeasures(document, listArguments: ["first", "x"])
      else { continue }
      let found = try DocumentMeasures(document, pricing: pricing)
      for (one, other) in zip(found.operations, expected.operations) {
        let costs = found.costs(of: one, variables: ["x": 7, "y": "3"])
        #expect(costs.fields == expected.cost(of: other, variables: ["x": 7, "y": "3"]) && costs.types == 0)
        #expect(one.size == other.size)
      }
    }
    let measures = try DocumentMeasures(parsing: "{ pets(first: 10) { owner { id } } }", pricing: pricing)
    #expect(measures.cost(of: measures.operations[0], variables: [:]) == 21)
  }
}
