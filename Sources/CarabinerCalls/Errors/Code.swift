/// The codes of the Connect protocol, with the numbers of gRPC.
public enum Code: Int, CaseIterable, Equatable, Sendable {
  case ok = 0
  case canceled = 1
  case unknown = 2
  case invalidArgument = 3
  case deadlineExceeded = 4
  case notFound = 5
  case alreadyExists = 6
  case permissionDenied = 7
  case resourceExhausted = 8
  case failedPrecondition = 9
  case aborted = 10
  case outOfRange = 11
  case unimplemented = 12
  case internalError = 13
  case unavailable = 14
  case dataLoss = 15
  case unauthenticated = 16

  /// The code's name on the wire, for example `not_found`.
  public var name: String {
    switch self {
    case .ok: "ok"
    case .canceled: "canceled"
    case .unknown: "unknown"
    case .invalidArgument: "invalid_argument"
    case .deadlineExceeded: "deadline_exceeded"
    case .notFound: "not_found"
    case .alreadyExists: "already_exists"
    case .permissionDenied: "permission_denied"
    case .resourceExhausted: "resource_exhausted"
    case .failedPrecondition: "failed_precondition"
    case .aborted: "aborted"
    case .outOfRange: "out_of_range"
    case .unimplemented: "unimplemented"
    case .internalError: "internal"
    case .unavailable: "unavailable"
    case .dataLoss: "data_loss"
    case .unauthenticated: "unauthenticated"
    }
  }

  /// Returns the code that a response without an error body has.
  ///
  /// - Parameter status: The HTTP status, for example 404.
  public static func fromHTTPStatus(_ status: Int) -> Code {
    switch status {
    case 200: .ok
    case 400: .internalError
    case 401: .unauthenticated
    case 403: .permissionDenied
    case 404: .unimplemented
    case 429, 502, 503, 504: .unavailable
    default: .unknown
    }
  }

  /// Returns the code with a name on the wire; `unknown` for any other name.
  public static func fromName(_ name: String) -> Code { allCases.first { $0.name == name } ?? .unknown }
}
