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

  /// Behind a reference, because most hooks stage nothing and the value is passed on several times.
  private final class Contents {
    // Changed by the owner of the call while the hook is open, and only read afterwards.
    @safe @exclusivity(unchecked) var elements: [Element] = []
    @safe @exclusivity(unchecked) var elementBytes = 0
    @safe @exclusivity(unchecked) var error: PluginError?
    @safe @exclusivity(unchecked) var retryScope: UInt32?
    @safe @exclusivity(unchecked) var retryDelay: UInt64 = 0
    @safe @exclusivity(unchecked) var head: HTTPURLResponse?
    @safe @exclusivity(unchecked) var headerEdits = HeaderEdits()
    @safe @exclusivity(unchecked) var fields: [UInt32: Data?] = [:]
    /// Whether anything but changes of headers was staged.
    @safe @exclusivity(unchecked) var hasOthers = false

    func moveHeaderEdits(into headers: inout HTTPHeaders) {
      guard !headerEdits.isEmpty else { return }
      headerEdits.apply(to: &headers)
      headerEdits.removeAll()
    }
  }

  private var contents: Contents?

  /// Whether anything was staged.
  var isTouched: Bool { contents != nil }

  /// The elements that `emit` staged.
  package var elements: [Element] { contents?.elements ?? [] }
  var error: PluginError? { contents?.error }
  var retryScope: UInt32? { contents?.retryScope }
  var retryDelay: UInt64 { contents?.retryDelay ?? 0 }
  var head: HTTPURLResponse? { contents?.head }
  /// How many changes of the headers were staged.
  var headerEditCount: Int { contents?.headerEdits.count ?? 0 }
  /// The new bytes of a part; nil inside removes it.
  var fields: [UInt32: Data?] { contents?.fields ?? [:] }

  /// How many bytes all elements have together.
  package var elementBytes: Int { contents?.elementBytes ?? 0 }

  /// Whether results, a head or chunks were staged.
  var hasElements: Bool { contents.map { !$0.elements.isEmpty } ?? false }

  // MARK: Staging

  private mutating func memory() -> Contents {
    if let contents { return contents }
    let made = Contents()
    contents = made
    return made
  }

  private mutating func touched() -> Contents {
    let contents = memory()
    contents.hasOthers = true
    return contents
  }

  mutating func add(_ element: Element) {
    let contents = touched()
    contents.elements.append(element)
    contents.elementBytes += element.bytes.count
  }

  /// Stages a field, of ``head`` if there is one. Both texts must be UTF-8.
  ///
  /// - Parameter keepsOthers: Whether fields of that name stay as they are. Else this one replaces them.
  mutating func addHeader(_ name: Span<UInt8>, _ value: Span<UInt8>, keepsOthers: Bool) {
    memory().headerEdits.add(name, value, keepsOthers: keepsOthers)
  }

  /// Stages that the fields of a name are removed, from ``head`` if there is one.
  mutating func removeHeaders(_ name: Span<UInt8>) { memory().headerEdits.remove(name) }

  mutating func set(_ error: PluginError) { touched().error = error }

  mutating func setRetry(scope: UInt32, delay: UInt64) {
    touched().retryScope = scope
    touched().retryDelay = delay
  }

  /// Sets a head. The head of a response discards earlier changes of headers.
  mutating func set(_ head: HTTPURLResponse, isResponse: Bool) {
    touched().head = head
    guard isResponse else { return }
    touched().headerEdits.removeAll()
  }

  mutating func set(_ bytes: Data?, of part: Parts) { touched().fields[part.rawValue] = .some(bytes) }

  // MARK: Taking effect

  /// Whether changes of headers were staged, and nothing else.
  var hasOnlyHeaderEdits: Bool { contents.map { !$0.headerEdits.isEmpty && !$0.hasOthers } ?? false }

  /// Moves the staged changes into headers, and keeps the memory for those of the next stage.
  func moveHeaderEdits(into headers: inout HTTPHeaders) { contents?.moveHeaderEdits(into: &headers) }

  /// Applies the staged changes of headers, in their order.
  fileprivate func edit(_ headers: inout HTTPHeaders) {
    guard let contents, !contents.headerEdits.isEmpty else { return }
    contents.headerEdits.apply(to: &headers)
  }

  /// Forgets all effects. The memory for changes of headers is kept for the next call.
  mutating func reset() {
    guard contents != nil else { return }
    if isKnownUniquelyReferenced(&contents), contents?.hasOthers == false {
      contents?.headerEdits.removeAll()
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
