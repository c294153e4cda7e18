internal import ArgumentParser
internal import Carabiner
internal import CarabinerBridge
internal import CarabinerEtcd
internal import CarabinerFleet
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerSources

/// The exit status of the command.
enum ExitStatus: Int32, Error {
  case success = 0
  case graphQLErrors = 1
  case usage = 2
  case refused = 3
  case network = 4
  case httpStatus = 5
  case parsing = 6
  case interceptor = 7
  case cancelled = 8

  /// The record that `carabiner cache` looks for does not exist.
  static let noSuchRecord = Self.graphQLErrors

  /// Two schemas differ in a way that fails.
  static let difference = Self.graphQLErrors

  /// The server answered a call with an error of the protocol.
  static let callFailed = Self.graphQLErrors

  /// The status for an error of a request or of loading its chain.
  init(_ error: any Error) {
    switch error {
    case let status as ExitStatus: self = status
    case is ManifestError, is ManifestProblem, is HostError, is StoreError, is ReleaseError: self = .refused
    case let error as ServerError: self = Self(error.code)
    case let error as FleetError: self = error.code == .malformed ? .parsing : .refused
    case let error as EtcdError: self = Self(error.code)
    case let error as SourceError: self = Self(error.code)
    case is CancellationError: self = .cancelled
    case let error as TransportError where error.code == .fileUnreadable || error.code == .fileChanged: self = .usage
    case is TransportError: self = .network
    case let error as WebSocketError: self = error.exitStatus
    case let error as RequestChainError where error.code == .timedOut || error.code == .idle: self = .network
    case let error as RequestChainError where error.code == .invalidRequest: self = .usage
    case is SubscriptionError: self = .graphQLErrors
    case let error as PluginError where error.code == .timedOut: self = .interceptor
    case is ResponseCodeError: self = .httpStatus
    case is ResponseParsingError: self = .parsing
    case is ValidationError: self = .usage
    default: self = .interceptor
    }
  }
}

extension ExitStatus {
  private init(_ code: ServerError.Code) {
    switch code {
    case .invalidConfiguration: self = .usage
    case .refused, .shutDown: self = .refused
    case .inUse, .cannotListen, .sourceUnavailable: self = .network
    }
  }

  private init(_ code: EtcdError.Code) {
    switch code {
    case .invalidSettings: self = .usage
    case .unavailable, .uncertain, .malformed: self = .network
    case .unauthenticated, .denied, .compacted, .refused: self = .refused
    }
  }

  private init(_ code: SourceError.Code) {
    switch code {
    case .invalidSettings: self = .usage
    case .unavailable, .malformed: self = .network
    case .unauthenticated, .denied, .missing, .refused: self = .refused
    }
  }
}

extension WebSocketError {
  /// The status for the error of a WebSocket.
  fileprivate var exitStatus: ExitStatus {
    switch code {
    case .unsupportedURL, .invalidHeader: .usage
    case .upgradeRefused: .httpStatus
    case .invalidMessage: .parsing
    default: .network
    }
  }
}
