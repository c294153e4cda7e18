internal import Carabiner
internal import CarabinerABI
internal import CarabinerWire
internal import FoundationEssentials

/// A GraphQL request with its type forgotten, as hooks see it.
final class GraphQLRequestMessage<Request: GraphQLRequest>: GraphQLMessage {
  private(set) var request: Request

  init(_ request: Request) { self.request = request }

  var headers: HTTPHeaders { request.additionalHeaders }
  var operationName: String? { request.operation.operationName }

  var document: String {
    switch request.wireOverrides.document {
    case .original, .omitted: request.operation.document
    case .replaced(let text): text
    }
  }

  var variables: [UInt8] {
    request.wireOverrides.variables?.bytes ?? JSONValue.object(request.operation.variables).serialized()
  }

  var extensions: [UInt8] { JSONValue.object(request.wireOverrides.extensions).serialized() }

  /// Lets what a hook staged take effect. The setters have checked it.
  func apply(_ answer: StagedEffects) {
    guard answer.isTouched else { return }
    request.additionalHeaders.apply(answer)
    for (part, bytes) in answer.fields {
      switch Parts(rawValue: part) {
      case .document: request.wireOverrides.document = .replaced(String(decoding: bytes ?? Data(), as: UTF8.self))
      case .variables: request.wireOverrides.variables = bytes.flatMap { try? JSONText(checking: [UInt8]($0)) }
      case .extensions:
        request.wireOverrides.extensions = bytes.flatMap { try? JSONValue(parsing: [UInt8]($0)).object } ?? [:]
      default: break
      }
    }
  }
}
