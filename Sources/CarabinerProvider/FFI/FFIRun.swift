@_spi(InterceptorHints) internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import FoundationEssentials

/// A stage that puts the result of a C function into a header of the request.
struct FFIStage: Sendable {
  let name: String
  let function: FFIFunction
  private let subject: CrashSubject

  init(name: String, function: FFIFunction, generation: UInt64) {
    self.name = name
    self.function = function
    subject = CrashSubject(entry: name, file: function.declaration.library, digest: "", generation: generation)
  }

  fileprivate func edit(_ request: inout URLRequest) throws {
    guard request.body?.data != nil || request.body == nil || !function.declaration.readsBody else {
      throw PluginError(
        code: .failed, entry: name, hook: Hook.onRequest.name,
        message: "the body of an upload is read while it is sent and cannot be given to \(function.declaration.function); take "
          + "this stage out of the chain of uploads with a rule")
    }
    let body = function.declaration.readsBody ? request.httpBody : nil
    request.headers[function.declaration.header] = subject.during(.ffi) { function.call(body: body ?? Data()) }
  }
}

/// Consecutive C functions, called in one loop. The chain sees one interceptor, and the request is copied once.
struct FFIRun: HTTPInterceptor {
  let stages: [FFIStage]

  var stageName: String { stages.map(\.name).joined(separator: ", ") }
  var traits: InterceptorHints { .bindsNoTaskLocals }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    try await next(edited(request))
  }

  private func edited(_ request: URLRequest) throws -> URLRequest {
    var request = request
    request.headers.reserve(stages.count, bytes: 0)
    for stage in stages { try stage.edit(&request) }
    return request
  }
}
