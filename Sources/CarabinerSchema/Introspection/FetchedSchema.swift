package import CarabinerWire

/// The schema of a server, and the introspection result that describes it.
package struct FetchedSchema: Sendable {
  /// The server refuses a query. It may answer an older one.
  package struct Refusal: Error, CustomStringConvertible {
    private let message: String
    package var description: String { "the server refused the introspection: \(message); ask its operator for the schema" }

    package init(_ message: String) { self.message = message }
  }

  package let schema: Schema
  package let introspection: JSONValue

  /// Asks with the query of the newest edition of the specification, then with older ones.
  ///
  /// - Parameters:
  ///   - isRefusal: Whether an older query is tried after an error of `answer`. After a ``Refusal`` it always is.
  ///   - answer: Sends a query and reads the response.
  /// - Throws: The first refusal if all queries were refused, any other error of `answer`, and `SchemaError` for a result with a fault.
  package init(
    isRefusal: (any Error) -> Bool = { _ in false }, answer: (IntrospectionQuery) async throws -> JSONValue
  ) async throws {
    let (introspection, edition) = try await Self.newestResult(isRefusal, answer)
    do throws(SchemaError) {
      self = try Self(introspection)
    } catch {
      // A type with more lists and exclamation marks than the query asks for ends the result too early.
      let query = IntrospectionQuery(edition, levels: IntrospectionQuery.maximumLevels)
      guard let deeper = try? await Self.result(query, answer), let fetched = try? Self(deeper) else { throw error }
      self = fetched
    }
  }

  private init(_ introspection: JSONValue) throws(SchemaError) {
    schema = try Schema(introspection: introspection)
    self.introspection = introspection
  }

  private static func newestResult(
    _ isRefusal: (any Error) -> Bool, _ answer: (IntrospectionQuery) async throws -> JSONValue
  ) async throws -> (JSONValue, IntrospectionQuery.Edition) {
    var refusal: (any Error)?
    for edition in IntrospectionQuery.Edition.allCases {
      do {
        return (try await result(IntrospectionQuery(edition), answer), edition)
      } catch  where error is Refusal || isRefusal(error) {
        refusal = refusal ?? error
      }
    }
    throw refusal ?? Refusal("there was no response")
  }

  private static func result(
    _ query: IntrospectionQuery, _ answer: (IntrospectionQuery) async throws -> JSONValue
  ) async throws -> JSONValue {
    let json = try await answer(query)
    guard json["data"]?["__schema"]?.object != nil else {
      throw Refusal(json["errors"]?[0]?["message"]?.string ?? "the response has no __schema")
    }
    return json
  }
}

extension FetchedSchema {
  /// The schema in the schema definition language, or the introspection result for a file whose name ends with .json.
  package func text(for file: String?, isSorted: Bool) -> String {
    let isIntrospection = file?.hasSuffix(".json") == true
    let text =
      isIntrospection ? String(decoding: introspection.serialized(pretty: true), as: UTF8.self) : schema.text(isSorted: isSorted)
    return text.hasSuffix("\n") ? text : text + "\n"
  }
}
