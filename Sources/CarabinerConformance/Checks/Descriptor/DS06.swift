internal import CCarabiner
internal import CLaboratory
internal import CarabinerHost

extension Check {
  static let ds06 = Check(
    "DS06", level: 5, "keeps its tables in its own static memory",
    page: Page(
      rule: """
        The registration table and all it points to, tables, texts and functions, lie in the segments of the library. Anything else is a
        warning. In Swift, whose kit makes the tables when the library registers, memory that is never freed will do.
        """,
      reason:
        "A host keeps these addresses as long as the process lives. What lies on a stack or in another library may be gone by then.",
      example: """
        const crb_plugin *crb_entry_v1(const crb_host *h) { crb_plugin table = { … }; return memcpy(malloc(sizeof table), &table, sizeof table); }
        """,
      remedy: "static const crb_plugin table = { … };      /* and static const for all it points to */"),
    .loading { trial in
      let table = unsafe try trial.table()
      let isSwift = (try? SharedObject(trial.bytes))?.needed.contains { $0.hasPrefix("libswiftCore") } ?? false
      let entry = unsafe unsafeBitCast(try trial.entry(), to: UnsafeRawPointer.self)
      let watch = unsafe AddressReview(notes: trial.notes, inside: entry, mayUseHeap: isSwift)
      let plugin = unsafe InterceptorTable.copy(table, crb_plugin())
      unsafe watch.look(table, "the registration table")
      unsafe watch.look(plugin.items, "the list of interceptors")
      for item in unsafe trial.items(of: table) {
        let copy = unsafe item.table
        let id = unsafe trial.text(copy.id) ?? "an interceptor"
        let parts: [(String, UnsafeRawPointer?)] = unsafe [
          ("the interceptor", UnsafeRawPointer(item.pointer)), ("the id", UnsafeRawPointer(copy.id)),
          ("the version", UnsafeRawPointer(copy.version)),
          ("the name", UnsafeRawPointer(copy.name)), ("the vendor", UnsafeRawPointer(copy.vendor)),
          ("the url", UnsafeRawPointer(copy.url)),
          ("the config_schema", UnsafeRawPointer(copy.config_schema)), ("the GraphQL stage", UnsafeRawPointer(copy.graphql)),
          ("the HTTP stage", UnsafeRawPointer(copy.http)), ("the cache stage", UnsafeRawPointer(copy.cache)),
          ("the parser stage", UnsafeRawPointer(copy.parser)),
          ("create()", copy.create.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("validate()", copy.validate.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("destroy()", copy.destroy.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("drain()", copy.drain.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
          ("extension()", copy.extension.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }),
        ]
        for index in unsafe parts.indices { unsafe watch.look(parts[index].1, "\(parts[index].0) of \(id)") }
        for stage in unsafe StageHooks.all(of: InterceptorTable(item.pointer)) {
          unsafe watch.look(stage.code, "the first hook of the \(stage.kind.rawValue) stage of \(id)")
        }
      }
    })
}

/// Tells where addresses lie.
@safe private struct AddressReview {
  let notes: TrialNotes
  let inside: UnsafeRawPointer
  let mayUseHeap: Bool

  func look(_ address: UnsafeRawPointer?, _ name: String) {
    guard let address = unsafe address else { return }
    switch unsafe Int(CLaboratory_place(inside, address)) {
    case CLABORATORY_SAME: break
    case CLABORATORY_ON_STACK: notes.warn("\(name) is on a stack")
    case CLABORATORY_ON_HEAP: if !mayUseHeap { notes.warn("\(name) is in memory that was allocated; make it static") }
    case CLABORATORY_OTHER: notes.warn("\(name) is in another library")
    default: notes.warn("\(name) is at an address where nothing is mapped")
    }
  }
}
