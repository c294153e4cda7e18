internal import CarabinerWire
package import FoundationEssentials

/// Creates responses from the payloads of one operation, and merges deferred parts.
package struct ResultPayloads<Operation: GraphQLOperation>: Sendable {
  private let isSubscription: Bool
  private let limits: ResponseLimits
  private var merged: IncrementalResponse?

  /// Creates the state for an operation of this type.
  package init(_ type: GraphQLOperationType, limits: ResponseLimits) {
    isSubscription = type == .subscription
    self.limits = limits
  }

  /// Returns the response for a payload, and whether it is known to be the last; nil if the payload adds nothing.
  ///
  /// - Throws: ``ResponseParsingError``.
  package mutating func response(_ payload: Data) throws -> (GraphQLResponse<Operation>, isLast: Bool)? {
    if isSubscription {
      var response = GraphQLResponse<Operation>(body: try ResponseBody(payload, limits: limits), source: .server)
      response.delivery = ResultDelivery(hasNext: true)
      return (response, false)
    }
    if merged == nil {
      let members: JSONMembers
      do {
        members = try JSONMembers(locating: payload.span, limits: limits.json)
      } catch {
        throw ResponseParsingError.invalidJSON(error, body: payload)
      }
      guard members.range(of: "hasNext") != nil else {
        return (GraphQLResponse(body: try ResponseBody(payload, limits: limits), source: .server), true)
      }
    }
    return try merge(payload)
  }

  /// Returns a response that contains only errors, for an operation that ended without a result.
  ///
  /// - Throws: ``ResponseParsingError``.
  package func response(errors payload: Data) throws -> GraphQLResponse<Operation> {
    // The older protocol sends a single error, not a list.
    let isList = payload.first == UInt8(ascii: "[")
    let text = #"{"errors":"# + (isList ? "" : "[") + String(decoding: payload, as: UTF8.self) + (isList ? "}" : "]}")
    return GraphQLResponse(body: try ResponseBody(Data(text.utf8), limits: limits), source: .server)
  }

  /// Checks that the result is complete when the server ends the operation.
  ///
  /// - Throws: ``ResponseParsingError`` with code `incomplete`.
  package func finish() throws {
    do throws(IncrementalError) {
      try merged?.finish()
    } catch {
      throw ResponseParsingError(error)
    }
  }

  private mutating func merge(_ payload: Data) throws -> (GraphQLResponse<Operation>, isLast: Bool)? {
    // Removed from its variable while it changes: a second reference would make every change a copy.
    var merging = merged ?? limits.incrementalResponse
    merged = nil
    defer { merged = merging }
    do {
      guard let update = try merging.merge([UInt8](payload)) else { return nil }
      var response = GraphQLResponse<Operation>(body: ResponseBody(update.response), source: .server)
      response.delivery = ResultDelivery(update)
      return (response, !update.hasNext)
    } catch let error as JSONError {
      throw ResponseParsingError.invalidJSON(error, body: payload)
    } catch let error as IncrementalError {
      throw ResponseParsingError(error)
    }
  }
}
