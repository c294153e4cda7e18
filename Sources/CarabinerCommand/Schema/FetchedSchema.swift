internal import Carabiner
internal import CarabinerHost
internal import CarabinerSchema
internal import CarabinerWire

/// The schema of a server, and the introspection result that describes it.
struct FetchedSchema: Sendable {
  let schema: Schema
  let introspection: JSONValue

  /// Asks with the query of the newest edition of the specification, then with older ones.
  ///
  /// - Throws: Errors of the request, and ``ExitStatus`` after a fault of the result was printed.
  init(through host: PluginHost) async throws {
    let (introspection, edition) = try await Self.newestResult(through: host)
    do throws(SchemaError) {
      self = try Self(introspection)
    } catch {
      // A type with more lists and exclamation marks than the query asks for ends the result too early.
      guard
        let deeper = try? await Self.result(
          of: IntrospectionQuery(edition, levels: IntrospectionQuery.maximumLevels), through: host),
        let fetched = try? Self(deeper)
      else {
        Terminal.complain("error: \(error)")
        throw ExitStatus.parsing
      }
      self = fetched
    }
  }

  private init(_ introspection: JSONValue) throws(SchemaError) {
    schema = try Schema(introspection: introspection)
    self.introspection = introspection
  }

  private static func newestResult(through host: PluginHost) async throws -> (JSONValue, IntrospectionQuery.Edition) {
    var refusal: (any Error)?
    for edition in IntrospectionQuery.Edition.allCases {
      do {
        return (try await result(of: IntrospectionQuery(edition), through: host), edition)
      } catch let error as Refusal {
        refusal = refusal ?? error
      } catch let error as ResponseCodeError {
        // Many servers answer a query that is not valid with status 400.
        refusal = refusal ?? error
      }
    }
    if let refusal = refusal as? Refusal {
      Terminal.complain("error: the server refused the introspection: \(refusal.message); ask its operator for the schema")
      throw ExitStatus.graphQLErrors
    }
    throw refusal ?? ExitStatus.parsing
  }

  /// The response to an operation without a schema in it.
  private struct Refusal: Error {
    let message: String
  }

  private static func result(of query: IntrospectionQuery, through host: PluginHost) async throws -> JSONValue {
    let operation = DynamicOperation(
      document: query.document, operationName: IntrospectionQuery.operationName, operationType: .query, variables: [:])
    let results = try ApolloClient(networkTransport: host.transport).results(
      of: operation, cachePolicy: .networkOnly, configuration: RequestConfiguration(writeResultsToCache: false))
    for try await response in results {
      let json = try JSONValue(parsing: [UInt8](response.body.bytes))
      guard json["data"]?["__schema"]?.object != nil else {
        throw Refusal(message: json["errors"]?[0]?["message"]?.string ?? "the response has no __schema")
      }
      return json
    }
    throw Refusal(message: "there was no response")
  }
}
