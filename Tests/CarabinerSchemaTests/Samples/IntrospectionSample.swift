import Testing

/// An introspection result as a server of some edition writes it, and the same schema as a text.
struct IntrospectionSample: Sendable, CustomTestStringConvertible {
  let edition: Int
  let text: String
  let result: String

  var testDescription: String { "\(edition)" }

  static let all = [
    IntrospectionSample(edition: 2016, text: text2016, result: result2016),
    IntrospectionSample(edition: 2018, text: text2018, result: result2018),
    IntrospectionSample(edition: 2021, text: text2021, result: result2021),
    IntrospectionSample(edition: 2025, text: text2025, result: result2025),
  ]

  // MARK: 2016: directives have flags in place of locations, and interfaces have no interfaces

  private static let text2016 = """
    directive @log(level: Level = LOW) on QUERY | MUTATION | SUBSCRIPTION | FIELD
    type Query { pets(first: Int = 10, like: PetFilter): [Pet!]! legacy: String @deprecated }
    interface Pet { "The name" name: String! }
    type Cat implements Pet { name: String! lives: Int }
    type Dog implements Pet { name: String! }
    union CatOrDog = Cat | Dog
    enum Level { LOW HIGH @deprecated(reason: "too loud") }
    input PetFilter { name: String = "Tom" }
    """

  private static let result2016 = #"""
    {"data": {"__schema": {
      "queryType": {"name": "Query"}, "mutationType": null,
      "types": [
        {"kind": "OBJECT", "name": "Query", "description": "", "fields": [
          {"name": "pets", "description": null, "args": [
            {"name": "first", "description": null, "type": {"kind": "SCALAR", "name": "Int", "ofType": null}, "defaultValue": "10"},
            {"name": "like", "description": null, "type": {"kind": "INPUT_OBJECT", "name": "PetFilter"}, "defaultValue": null}],
            "type": {"kind": "NON_NULL", "name": null, "ofType": {"kind": "LIST", "name": null, "ofType":
              {"kind": "NON_NULL", "name": null, "ofType": {"kind": "INTERFACE", "name": "Pet", "ofType": null}}}},
            "isDeprecated": false, "deprecationReason": null},
          {"name": "legacy", "args": [], "type": {"kind": "SCALAR", "name": "String"}, "isDeprecated": true, "deprecationReason": null}],
          "inputFields": null, "interfaces": [], "enumValues": null, "possibleTypes": null},
        {"kind": "SCALAR", "name": "Int", "description": "a number"}, {"kind": "SCALAR", "name": "String"},
        {"kind": "INTERFACE", "name": "Pet", "fields": [
          {"name": "name", "description": "The name", "args": [],
            "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "String"}}}],
          "possibleTypes": [{"kind": "OBJECT", "name": "Dog"}, {"kind": "OBJECT", "name": "Cat"}]},
        {"kind": "OBJECT", "name": "Cat", "fields": [
          {"name": "name", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "String"}}},
          {"name": "lives", "args": [], "type": {"kind": "SCALAR", "name": "Int"}}],
          "interfaces": [{"kind": "INTERFACE", "name": "Pet"}]},
        {"kind": "OBJECT", "name": "Dog", "fields": [
          {"name": "name", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "String"}}}],
          "interfaces": [{"kind": "INTERFACE", "name": "Pet"}]},
        {"kind": "UNION", "name": "CatOrDog", "possibleTypes": [{"kind": "OBJECT", "name": "Cat"}, {"kind": "OBJECT", "name": "Dog"}]},
        {"kind": "ENUM", "name": "Level", "enumValues": [
          {"name": "LOW", "description": null, "isDeprecated": false, "deprecationReason": null},
          {"name": "HIGH", "description": null, "isDeprecated": true, "deprecationReason": "too loud"}]},
        {"kind": "INPUT_OBJECT", "name": "PetFilter", "inputFields": [
          {"name": "name", "type": {"kind": "SCALAR", "name": "String"}, "defaultValue": "\"Tom\""}]},
        {"kind": "OBJECT", "name": "__Type", "fields": [
          {"name": "kind", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "ENUM", "name": "__TypeKind"}}}]},
        {"kind": "ENUM", "name": "__TypeKind", "enumValues": [{"name": "SCALAR"}]}],
      "directives": [
        {"name": "include", "args": [
          {"name": "if", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Boolean"}}, "defaultValue": null}],
          "onOperation": false, "onFragment": true, "onField": true},
        {"name": "log", "args": [{"name": "level", "type": {"kind": "ENUM", "name": "Level"}, "defaultValue": "LOW"}],
          "onOperation": true, "onFragment": false, "onField": true}]
    }}}
    """#

  // MARK: 2018: locations of directives

  private static let text2018 = #"""
    schema { query: Start mutation: Changes subscription: Events }
    "How long" directive @cache(seconds: Int!, tags: [String!]! = ["a", "b"]) on FIELD_DEFINITION | OBJECT
    scalar Time
    type Start { now(at: Window = {from: 1.5, open: true}): Time! matrix: [[Int]!] }
    type Changes { touch: Boolean }
    type Events { ticks: Int! }
    input Window { from: Float! = 0.5 open: Boolean }
    """#

  private static let result2018 = #"""
    {"__schema": {
      "queryType": {"name": "Start"}, "mutationType": {"name": "Changes"}, "subscriptionType": {"name": "Events"},
      "types": [
        {"kind": "SCALAR", "name": "Time", "description": null, "fields": null},
        {"kind": "OBJECT", "name": "Events", "interfaces": [], "fields": [
          {"name": "ticks", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}}]},
        {"kind": "OBJECT", "name": "Changes", "interfaces": [], "fields": [
          {"name": "touch", "args": [], "type": {"kind": "SCALAR", "name": "Boolean"}}]},
        {"kind": "OBJECT", "name": "Start", "interfaces": [], "fields": [
          {"name": "matrix", "args": [], "type": {"kind": "LIST", "ofType": {"kind": "NON_NULL", "ofType":
            {"kind": "LIST", "ofType": {"kind": "SCALAR", "name": "Int"}}}}},
          {"name": "now", "args": [
            {"name": "at", "type": {"kind": "INPUT_OBJECT", "name": "Window"}, "defaultValue": "{from: 1.5, open: true}"}],
            "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Time"}}}]},
        {"kind": "INPUT_OBJECT", "name": "Window", "inputFields": [
          {"name": "open", "type": {"kind": "SCALAR", "name": "Boolean"}, "defaultValue": null},
          {"name": "from", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Float"}}, "defaultValue": "0.5"}]}],
      "directives": [
        {"name": "deprecated", "description": "Marks an element.", "locations": ["FIELD_DEFINITION", "ENUM_VALUE"], "args": [
          {"name": "reason", "type": {"kind": "SCALAR", "name": "String"}, "defaultValue": "\"No longer supported\""}]},
        {"name": "cache", "description": "How long", "locations": ["OBJECT", "FIELD_DEFINITION"], "args": [
          {"name": "seconds", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "Int"}}, "defaultValue": null},
          {"name": "tags", "type": {"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": {"kind": "NON_NULL", "ofType":
            {"kind": "SCALAR", "name": "String"}}}}, "defaultValue": "[\"a\", \"b\"]"}]}]
    }}
    """#

  // MARK: 2021: interfaces of interfaces, specifiedByURL, isRepeatable, a description of the schema

  private static let text2021 = #"""
    "The schema" schema { query: Query }
    directive @tag(name: String!) repeatable on FIELD | VARIABLE_DEFINITION
    scalar Time @specifiedBy(url: "https://example.com/time")
    type Query implements Node & Named { id: ID! name: String time: Time }
    interface Node { id: ID! }
    interface Named implements Node { id: ID! name: String }
    """#

  private static let result2021 = #"""
    {"data": {"__schema": {
      "description": "The schema", "queryType": {"name": "Query", "kind": "OBJECT"}, "mutationType": null, "subscriptionType": null,
      "types": [
        {"kind": "SCALAR", "name": "Time", "specifiedByURL": "https://example.com/time"},
        {"kind": "SCALAR", "name": "ID", "specifiedByURL": null},
        {"kind": "INTERFACE", "name": "Node", "interfaces": [], "fields": [
          {"name": "id", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}}]},
        {"kind": "INTERFACE", "name": "Named", "interfaces": [{"kind": "INTERFACE", "name": "Node"}], "fields": [
          {"name": "id", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}},
          {"name": "name", "args": [], "type": {"kind": "SCALAR", "name": "String"}}]},
        {"kind": "OBJECT", "name": "Query", "interfaces": [{"kind": "INTERFACE", "name": "Named"}, {"kind": "INTERFACE", "name": "Node"}],
          "fields": [
            {"name": "id", "args": [], "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}},
            {"name": "name", "args": [], "type": {"kind": "SCALAR", "name": "String"}},
            {"name": "time", "args": [], "type": {"kind": "SCALAR", "name": "Time"}}]}],
      "directives": [
        {"name": "specifiedBy", "isRepeatable": false, "locations": ["SCALAR"], "args": [
          {"name": "url", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "String"}}, "defaultValue": null}]},
        {"name": "tag", "isRepeatable": true, "locations": ["VARIABLE_DEFINITION", "FIELD"], "args": [
          {"name": "name", "type": {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "String"}}, "defaultValue": null}]}]
    }}, "extensions": {"took": 3}}
    """#

  // MARK: 2025: isOneOf, deprecated arguments and input fields, and members of a later edition

  private static let text2025 = #"""
    type Query { pet(by: PetBy!, old: Int @deprecated(reason: "use by")): String }
    input PetBy @oneOf { id: ID "The name" name: String tag: String @deprecated }
    enum Color { "Rot 🟥" RED }
    """#

  private static let result2025 = #"""
    {"data": {"__schema": {
      "description": null, "futureMember": {"a": [1]}, "queryType": {"name": "Query"}, "mutationType": null, "subscriptionType": null,
      "types": [
        {"kind": "OBJECT", "name": "Query", "isOneOf": null, "interfaces": [], "futureList": [], "fields": [
          {"name": "pet", "args": [
            {"name": "by", "type": {"kind": "NON_NULL", "ofType": {"kind": "INPUT_OBJECT", "name": "PetBy"}}, "isDeprecated": false},
            {"name": "old", "type": {"kind": "SCALAR", "name": "Int"}, "isDeprecated": true, "deprecationReason": "use by"}],
            "type": {"kind": "SCALAR", "name": "String"}, "isDeprecated": false}]},
        {"kind": "INPUT_OBJECT", "name": "PetBy", "isOneOf": true, "inputFields": [
          {"name": "id", "type": {"kind": "SCALAR", "name": "ID"}, "isDeprecated": false},
          {"name": "name", "description": "The name", "type": {"kind": "SCALAR", "name": "String"}, "isDeprecated": false},
          {"name": "tag", "type": {"kind": "SCALAR", "name": "String"}, "isDeprecated": true,
            "deprecationReason": "No longer supported"}]},
        {"kind": "ENUM", "name": "Color", "isOneOf": null, "enumValues": [
          {"name": "RED", "description": "Rot \ud83d\udfe5", "isDeprecated": false}]}],
      "directives": [{"name": "oneOf", "isRepeatable": false, "locations": ["INPUT_OBJECT", "FUTURE_LOCATION"], "args": []}]
    }}}
    """#
}
