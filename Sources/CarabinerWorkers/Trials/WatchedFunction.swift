/// An act of a plugin in a ``WatchedWorker``: a function of carabiner.h that it calls, or one of two events. The numbers are those of
/// `CCrossing_function`.
package enum WatchedFunction: UInt32, CaseIterable, Sendable {
  case query = 1
  case allocate
  case adopt
  case slice
  case retain
  case release
  case view
  case scratch
  case suspend
  /// The token of the last suspend().
  case token
  case resume
  case cancelled
  case deadline
  case attempt
  case operationType
  case requestID
  case emit
  case setError
  case setRetry
  case setHead
  case headers
  case headerGet
  case headerSet
  case fieldGet
  case fieldSet
  case key
  case bagGet
  case bagSet
  case log
  case timerArm
  case timerCancel
  /// A service without done().
  case withoutDone
  /// A hook has returned.
  case returned
}
