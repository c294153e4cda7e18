internal import Glibc

/// A value for another thread whose type does not conform to `Sendable`.
///
/// The closures, requests and interceptors of this generation do not conform. One thread at a time uses them, because each step of a
/// chain starts only when the step before it hands over.
struct Transferred<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// The number of a thread.
enum ThreadNumber {
  static var current: UInt { UInt(pthread_self()) }
}
