internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ld10 = Check(
    "LD10", level: 5, "gives back in deinit() what it took in init()",
    page: Page(
      rule: #"""
        After init(), some calls and deinit(), no descriptor and no thread is left; and init() works again after that.
        """#,
      reason: #"""
        The library stays in the process (R10). A program that stops its host and starts another finds it as deinit() left it.
        """#,
      example: #"""
        static void deinit(void) { stop = 1; }                        /* and the thread of init() sleeps on */
        """#,
      remedy: #"""
        static void deinit(void) { stop = 1; pthread_join(worker, NULL); close(file); file = -1; }
        """#),
    .loading { trial in
      let table = unsafe InterceptorTable.copy(try trial.table(), crb_plugin())
      guard unsafe table.`init` != nil || table.`deinit` != nil else {
        throw TrialNotes.Skip("it has neither init() nor deinit()")
      }
      _ = ProcessHoldings.now
      let before = ProcessHoldings.now
      for round in 1...2 {
        do {
          for interceptor in try trial.interceptors(of: trial.library()) { try interceptor.exercise([Exchange("a query")]) }
        } catch let skip as TrialNotes.Skip where round == 2 {
          return trial.notes.fail("after deinit() it does not work again: \(skip.reason)")
        }
        Laboratory.current.enter("deinit")
        unsafe table.`deinit`?()
        Laboratory.current.leave()
        for change in ProcessHoldings.now.taken(since: before) { trial.notes.fail("after deinit() \(change)") }
      }
    })
}
