import CarabinerManifest

extension Refusal {
  /// A mistake in one key of `serve`.
  private static func serve(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\nserve: {\(text)}", code, "/serve\(pointer)", fragment)
  }

  /// Mistakes in what a gateway decides about clients.
  static let clients: [Refusal] = [
    serve("cors as a text", "cors: '*'", .wrongType, "/cors", "must be an object"),
    serve("cors without origins", "cors: {credentials: true}", .missing, "/cors", "the origins are missing"),
    serve("no origins", "cors: {origins: []}", .invalidValue, "/cors/origins", "this list is empty"),
    serve("origins as a text", "cors: {origins: '*'}", .wrongType, "/cors/origins", "a list of origins"),
    serve("an origin with a path", "cors: {origins: ['https://a.test/x']}", .invalidValue, "/cors/origins/0", "without a path"),
    serve("an origin without a scheme", "cors: {origins: ['*.org']}", .invalidValue, "/cors/origins/0", "not an origin"),
    serve(
      "an origin twice", "cors: {origins: ['https://a.test', 'https://A.test:443']}", .duplicateName, "/cors/origins/1", "already"
    ),
    serve(
      "credentials for every page", "cors: {origins: ['*'], credentials: true}", .invalidValue, "/cors/credentials",
      "list the origins"),
    serve(
      "credentials as a text", "cors: {origins: ['*'], credentials: 'true'}", .wrongType, "/cors/credentials", "true or false"),
    serve(
      "a header with a space", "cors: {origins: ['*'], headers: ['a b']}", .invalidValue, "/cors/headers/0", "not a header name"),
    serve("an exposed pattern", "cors: {origins: ['*'], expose: [{}]}", .wrongType, "/cors/expose/0", "must be a text"),
    serve(
      "an age without a unit", "cors: {origins: ['*'], maximum-age: 10}", .invalidValue, "/cors/maximum-age", "not a duration"),
    serve("an age of two days", "cors: {origins: ['*'], maximum-age: 48h}", .invalidValue, "/cors/maximum-age", "more than 24h"),
    serve("compression as true", "compression: true", .wrongType, "/compression", "must be an object"),
    serve("no encodings", "compression: {encodings: []}", .invalidValue, "/compression/encodings", "this list is empty"),
    serve("an unknown encoding", "compression: {encodings: [br]}", .invalidValue, "/compression/encodings/0", "zstd and gzip"),
    serve("an encoding twice", "compression: {encodings: [gzip, gzip]}", .duplicateName, "/compression/encodings/1", "already"),
    serve("no minimum", "compression: {minimum: 0}", .invalidValue, "/compression/minimum", "is zero"),
    serve("level 0", "compression: {level: 0}", .invalidValue, "/compression/level", "from 1 to 9"),
    serve(
      "a list without a mode", "operations: {allow: {files: [present.plugin]}}", .missing, "/operations/allow", "begin with audit"
    ),
    serve(
      "an unknown mode", "operations: {allow: {files: [present.plugin], mode: strict}}", .invalidValue, "/operations/allow/mode",
      "audit, document, id"),
    serve("a list without files", "operations: {allow: {mode: id}}", .missing, "/operations/allow", "the files are missing"),
    serve(
      "no files of operations", "operations: {allow: {files: [], mode: id}}", .invalidValue, "/operations/allow/files", "0 files"),
    serve(
      "an absent list", "operations: {allow: {files: [absent.json], mode: id}}", .missing, "/operations/allow/files/0",
      "there is no file"),
    serve("a depth of 0", "operations: {limits: {depth: 0}}", .invalidValue, "/operations/limits/depth", "whole number from 1"),
    serve(
      "a cost as a text", "operations: {limits: {cost: '5'}}", .invalidValue, "/operations/limits/cost", "whole number from 1"),
    serve(
      "negative aliases", "operations: {limits: {aliases: -1}}", .invalidValue, "/operations/limits/aliases",
      "whole number from 0"),
    serve(
      "too many tokens", "operations: {limits: {tokens: 100001}}", .invalidValue, "/operations/limits/tokens", "from 1 to 100000"),
    serve(
      "a list argument with a hyphen", "operations: {limits: {list-arguments: [a-b]}}", .invalidValue,
      "/operations/limits/list-arguments/0", "not the name"),
    serve(
      "a misspelt limit", "operations: {limits: {root-field: 1}}", .unknownKey, "/operations/limits/root-field",
      "did you mean root-fields?"),
    serve(
      "introspection as a number", "operations: {introspection: 0}", .wrongType, "/operations/introspection", "true or false"),
    serve("an unknown key of cors", "cors: {origins: ['*'], origin: x}", .unknownKey, "/cors/origin", "did you mean origins?"),
  ]
}
