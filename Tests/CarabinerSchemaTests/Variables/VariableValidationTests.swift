import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Validation of variables")
struct VariableValidationTests {
  @Test(
    "values that can be coerced have no problem", .rule("validate.5"),
    arguments: [
      ("$x: Int", "{}"), ("$x: Int", #"{"x": null}"#), ("$x: Int! = 1", "{}"), ("$x: Int!", #"{"x": -2147483648, "other": []}"#),
      ("$x: Int", #"{"x": 2.0}"#), ("$x: Int", #"{"x": 1e3}"#), ("$x: Float", #"{"x": 1}"#), ("$x: Float", #"{"x": 1.5e300}"#),
      ("$x: String", #"{"x": "1"}"#), ("$x: Boolean", #"{"x": false}"#), ("$x: ID", #"{"x": "a"}"#),
      ("$x: ID", #"{"x": 99999999999999999999}"#), ("$x: Genre", #"{"x": "NOVEL"}"#), ("$x: [Int!]", #"{"x": 1}"#),
      ("$x: [[Int]]", #"{"x": 1}"#), ("$x: [[Int]]", #"{"x": [1, [2, null], null]}"#), ("$x: [Int!]!", #"{"x": []}"#),
      ("$x: Date", #"{"x": {"any": [1, "a"]}}"#), ("$x: Date", #"{"x": [[1]]}"#),
      ("$x: Filter", #"{"x": {"title": "a", "genres": "NOVEL", "inner": {"title": "b", "limit": 1}}}"#),
      ("$x: [Filter!]", #"{"x": {"title": "a"}}"#), ("$x: Pick", #"{"x": {"id": 1}}"#),
      ("$x: Pick", #"{"x": {"range": {"low": 1, "high": 2}}}"#), ("$x: Missing!", "{}"), ("$x: Query", #"{"x": 1}"#),
    ])
  func valid(declarations: String, variables: String) throws {
    #expect(try VariableSample.problems(declarations, variables) == [])
  }

  @Test(
    "a problem has the place of the value, and says what to do", .rule("validate.5"),
    arguments: [
      ("$x: Int!", "{}", "x: error: the operation needs the variable $x, of type Int!; add it to the variables"),
      ("$x: Int!", #"{"x": null}"#, "x: error: null is not of type Int!"),
      ("$x: Int! = 1", #"{"x": null}"#, "x: error: null is not of type Int!"),
      ("$x: Int", #"{"x": "1"}"#, #"x: error: "1" is not of type Int"#),
      ("$x: Int", #"{"x": 2147483648}"#, "x: error: 2147483648 is not of type Int"),
      ("$x: Int", #"{"x": 1.5}"#, "x: error: 1.5 is not of type Int"),
      ("$x: Int", #"{"x": true}"#, "x: error: true is not of type Int"),
      ("$x: Int", #"{"x": [1]}"#, "x: error: a list is not of type Int"),
      ("$x: Float", #"{"x": 1e400}"#, "x: error: 1e400 is not of type Float"),
      ("$x: String", #"{"x": 1}"#, "x: error: 1 is not of type String"),
      ("$x: Boolean", #"{"x": 1}"#, "x: error: 1 is not of type Boolean"),
      ("$x: ID", #"{"x": 4.0}"#, "x: error: 4.0 is not of type ID"),
      ("$x: ID", #"{"x": true}"#, "x: error: true is not of type ID"),
      ("$x: Genre", #"{"x": {}}"#, "x: error: an object is not of type Genre"),
      ("$x: Genre", #"{"x": "HOROR"}"#, #"x: error: "HOROR" is not of type Genre (did you mean HORROR?)"#),
      ("$x: [[Int!]]", #"{"x": [[1], [2, null]]}"#, "x[1][1]: error: null is not of type Int!"),
      ("$x: Filter", #"{"x": "a"}"#, #"x: error: "a" is not of type Filter"#),
      ("$x: Filter", #"{"x": {}}"#, "x: error: Filter needs the field title"),
      (
        "$x: Filter", #"{"x": {"title": "a", "genres": ["NOVEL", "ESSAY", "POEM"]}}"#,
        #"x.genres[2]: error: "POEM" is not of type Genre"#
      ),
      ("$x: Filter", #"{"x": {"title": "a", "tags": null}}"#, "x.tags: error: null is not of type [String]!"),
      (
        "$x: Filter", #"{"x": {"title": "a", "inner": {"titel": "b", "title": "c"}}}"#,
        "x.inner.titel: error: Filter has no field titel (did you mean title?)"
      ),
      ("$x: Filter", #"{"x": {"title": "a", "\n b": 1}}"#, #"x["\n b"]: error: Filter has no field "\n b""#),
      ("$x: Pick", #"{"x": {}}"#, "x: error: a value of Pick has exactly one field, which is not null"),
      ("$x: [Pick]", #"{"x": [{"id": null}]}"#, "x[0]: error: a value of Pick has exactly one field, which is not null"),
      ("$x: Pick", #"{"x": {"id": 1, "title": "a"}}"#, "x: error: a value of Pick has exactly one field, which is not null"),
    ])
  func invalid(declarations: String, variables: String, expected: String) throws {
    #expect(try VariableSample.problems(declarations, variables).map(\.description) == [expected])
  }

  @Test("each variable is checked, and suggestions can be switched off", .rule("validate.5"))
  func silent() throws {
    let found = try VariableSample.problems("$x: Genre, $y: Filter, $z: Int!", #"{"x": "NOVELS", "y": {"titel": 1}}"#) {
      $0.suggestsNames = false
    }
    #expect(
      found.map(\.description) == [
        #"x: error: "NOVELS" is not of type Genre"#, "y: error: Filter needs the field title",
        "y.titel: error: Filter has no field titel",
        "z: error: the operation needs the variable $z, of type Int!; add it to the variables",
      ])
    #expect(found.map(\.variable) == ["x", "y", "y", "z"])
  }

  @Test("names are compared by their bytes, because servers do not normalise them", .rule("validate.5"))
  func exactNames() throws {
    let schema = "type Query { a: Int } input In { K: Int! } enum E { K }"
    let validator = VariableValidator(schema: try Schema(parsing: schema))
    let operation = try GraphQLDocument(parsing: "query ($x: In, $y: E) { a }").operations[0]
    let found = validator.problems(in: ["x": ["\u{212A}": 1], "y": "\u{212A}"], of: operation)
    #expect(found.count == 3, "\(found)")
  }

  @Test("the place of a file may be null", .rule("validate.5"))
  func uploads() throws {
    let variables = #"{"files": [null, null], "form": {"on": null, "title": null}}"#
    let declarations = "$files: [Date!]!, $form: Filter"
    let found = try VariableSample.problems(declarations, variables, uploads: ["variables.files.1"])
    #expect(found.map(\.path) == ["files[0]", "form.title"])
    #expect(
      try VariableSample.problems(
        declarations, variables, uploads: ["variables.files.0", "variables.files.1", "variables.form.title"]) == [])
  }
}
