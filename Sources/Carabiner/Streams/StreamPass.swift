/// Passes a stream through a stage that handles most elements by a synchronous call.
///
/// An `async` function for each stream would cost more than the rest of such a stage.
@usableFromInline package protocol StreamPass<Element>: AnyObject, Sendable {
  associatedtype Element: Sendable

  /// The pass of the next outer stage, while the request is still on its way inward.
  var outer: (any StreamPass<Element>)? { get set }

  /// Whether the step needs more than synchronous calls before the request goes on.
  var isUnfinished: Bool { get }

  /// Takes the elements from the stages further in. Called once, before the others.
  func take(_ inner: PullStream<Element>)

  /// Shows the only element of the inner stream. If it does not pass unchanged, ``next()`` continues.
  func passes(_ element: Element) -> Bool

  /// The next step, for a stream with other elements or after ``passes(_:)`` returned false.
  func next() async throws -> PullStream<Element>.Step
}

extension PullStream {
  /// The elements of a stream after a pass.
  @inline(__always) package func passed(_ pass: any StreamPass<Element>) -> Self {
    pass.take(self)
    if case .single(let single) = source { return Self(source: .passed(single, pass)) }
    return Self { try await pass.next() }
  }
}
