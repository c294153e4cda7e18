internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The effects that a hook staged. They are applied with the verdict.
package struct StagedEffects {
  package struct Element {
    let kind: Int32
    let bytes: Data
    let flags: UInt32
  }

  private struct Values: ~Copyable {
    var elements: [Element] = []
    var elementBytes = 0
    var error: PluginError?
    var retryScope: UInt32?
    var retryDelay: UInt64 = 0
    var head: HTTPURLResponse?
    var headerEdits = HeaderEdits()
    var fields: [UInt32: Data?] = [:]
    /// Whether anything but changes of headers was staged.
    var hasOthers = false

    mutating func add(_ element: Element) {
      elements.append(element)
      elementBytes += element.bytes.count
    }

    mutating func moveHeaderEdits(into headers: inout HTTPHeaders) {
      guard !headerEdits.isEmpty else { return }
      headerEdits.apply(to: &headers)
      headerEdits.removeAll()
    }
  }

  /// Behind a reference, because most hooks stage nothing and the value is passed on several times.
  private final class Contents {
    // Changed by the owner of the call while the hook is open, and only read afterwards.
    @safe @exclusivity(unchecked) var values = Values()
  }

  private var contents: Contents?

  /// Whether anything was staged.
  var isTouched: Bool { contents != nil }

  /// The elements that `emit` staged.
  package var elements: [Element] { contents?.values.elements ?? [] }
  var error: PluginError? { contents?.values.error }
  var retryScope: UInt32? { contents?.values.retryScope }
  var retryDelay: UInt64 { contents?.values.retryDelay ?? 0 }
  var head: HTTPURLResponse? { contents?.values.head }
  /// How many changes of the headers were staged.
  var headerEditCount: Int { contents?.values.headerEdits.count ?? 0 }
  /// The new bytes of a part; nil inside removes it.
  var fields: [UInt32: Data?] { contents?.values.fields ?? [:] }

  /// How many bytes all elements have together.
  package var elementBytes: Int { contents?.values.elementBytes ?? 0 }

  /// Whether results, a head or chunks were staged.
  var hasElements: Bool { contents.map { !$0.values.elements.isEmpty } ?? false }

  // MARK: Staging

  private mutating func memory() -> Contents {
    if let contents { return contents }
    let made = Contents()
    contents = made
    return made
  }

  private mutating func touched() -> Contents {
    let contents = memory()
    contents.values.hasOthers = true
    return contents
  }

  mutating func add(_ element: Element) { touched().values.add(element) }

  /// Stages a field, of ``head`` if there is one. Both texts must be UTF-8.
  ///
  /// - Parameter keepsOthers: Whether fields of that name stay as they are. Else this one replaces them.
  mutating func addHeader(_ name: Span<UInt8>, _ value: Span<UInt8>, keepsOthers: Bool) {
    memory().values.headerEdits.add(name, value, keepsOthers: keepsOthers)
  }

  /// Stages that the fields of a name are removed, from ``head`` if there is one.
  mutating func removeHeaders(_ name: Span<UInt8>) { memory().values.headerEdits.remove(name) }

  mutating func set(_ error: PluginError) { touched().values.error = error }

  mutating func setRetry(scope: UInt32, delay: UInt64) {
    touched().values.retryScope = scope
    touched().values.retryDelay = delay
  }

  /// Sets a head. The head of a response discards earlier changes of headers.
  mutating func set(_ head: HTTPURLResponse, isResponse: Bool) {
    touched().values.head = head
    guard isResponse else { return }
    touched().values.headerEdits.removeAll()
  }

  mutating func set(_ bytes: Data?, of part: Parts) { touched().values.fields[part.rawValue] = .some(bytes) }

  // MARK: Taking effect

  /// Whether changes of headers were staged, and nothing else.
  var hasOnlyHeaderEdits: Bool { contents.map { !$0.values.headerEdits.isEmpty && !$0.values.hasOthers } ?? false }

  /// Moves the staged changes into headers, and keeps the memory for those of the next stage.
  func moveHeaderEdits(into headers: inout HTTPHeaders) { contents?.values.moveHeaderEdits(into: &headers) }

  /// Applies the staged changes of headers, in their order.
  fileprivate func edit(_ headers: inout HTTPHeaders) {
    guard let contents, !contents.values.headerEdits.isEmpty else { return }
    contents.values.headerEdits.apply(to: &headers)
  }

  /// Forgets all effects. The memory for changes of headers is kept for the next call.
  mutating func reset() {
    guard contents != nil else { return }
    if isKnownUniquelyReferenced(&contents), contents?.values.hasOthers == false {
      contents?.values.headerEdits.removeAll()
    } else {
      contents = nil
    }
  }

  /// Takes all effects.
  mutating func take() -> StagedEffects {
    var taken = StagedEffects()
    swap(&taken, &self)
    return taken
  }
}

extension HTTPHeaders {
  /// Applies the changes that a hook of a call staged, and removes them there.
  mutating func takeEdits(of call: GroupCall) { call.pass.staged.moveHeaderEdits(into: &self) }

  /// Applies the changes that a hook staged.
  mutating func apply(_ effects: StagedEffects) { effects.edit(&self) }
}
