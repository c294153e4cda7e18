internal import Carabiner

/// What the hooks of a call look at and change.
enum CallMessage {
  case none
  case graphQL(any GraphQLMessage)
  case http(HTTPMessage)
}

/// A GraphQL request without its type.
protocol GraphQLMessage: AnyObject {
  var headers: HTTPHeaders { get }
  var operationName: String? { get }
  var document: String { get }
  var variables: [UInt8] { get }
  var extensions: [UInt8] { get }
}
