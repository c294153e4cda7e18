internal import CLaboratory
internal import CarabinerHost

extension Check {
  static let lc10 = Check(
    "LC10", level: 5, "leaves nothing to be run when the process ends",
    page: Page(
      rule: """
        create(), hooks and destroy() register no function with atexit(), on_exit(), at_quick_exit() or pthread_atfork(). The destructors of
        static objects that C++ registers are registered once, and not with each instance.
        """,
      reason: """
        There is no way to take such a function back. After destroy() it is still there, with each instance there is one more, and it runs when
        the host ends: beside threads of other plugins, on memory that was freed long ago.
        """,
      example: "static crb_status create(…) { atexit(flush); … }",
      remedy: "Flush in drain() or destroy(), which are called while everything is still there."),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CLaboratory_watchHandlers(code) > 0 else {
        throw TrialNotes.Skip("it imports no function that registers one")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      func round() throws -> (handlers: UInt64, objects: UInt64) {
        let before = (CLaboratory_exitHandlers(), CLaboratory_exitObjects())
        try trial.exercise()
        return (CLaboratory_exitHandlers() - before.0, CLaboratory_exitObjects() - before.1)
      }
      let first = try round()
      let second = try round()
      // An array of static objects is registered like a function, once.
      let isOfObjects = first.objects > 0 && second.handlers == 0
      if first.handlers + second.handlers > 0, !isOfObjects {
        trial.notes.fail(
          "it registers \(first.handlers + second.handlers) functions to be run at exit or fork, with two instances",
          at: trial.interceptor.id)
      }
      if second.objects > 0 {
        trial.notes.fail("each instance registers \(second.objects) destructors to be run at exit", at: trial.interceptor.id)
      }
    })
}
