internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let ownThreads = Check(
    "TH07", level: 6, "names and joins its own threads",
    page: Page(
      rule: """
        Threads that a plugin starts have a name and block all signals. There are at most 16, and they have ended when destroy()
        returns. Anything else is a warning.

        The threads on which Swift runs tasks do not count. They are one pool for the whole process, and the check recognizes them
        because libdispatch starts them. If a plugin links its own copy of libdispatch, it has its own pool, and that counts.
        """,
      reason: """
        The kernel sends a signal to any thread that does not block it. A thread that outlives its instance works on freed memory.
        """,
      example: "pthread_create(&thread, NULL, work, instance);  pthread_detach(thread);",
      remedy: """
        Block all signals around pthread_create(), name the thread, and signal it to end and join it in destroy().
        """),
    .interceptor { trial in
      CTestHost_watchPool()
      let before = ThreadList.now
      let instance = try trial.instance()
      for stage in trial.stages { _ = trial.travel(Exchange.usual, stage, instance) }
      let own = ThreadList.now.filter { thread in
        !before.contains { $0.number == thread.number } && !thread.isOfTheTestHost && !thread.isOfThePool
      }
      if own.count > 16 { trial.notes.warn("it starts \(own.count) threads", at: trial.interceptor.id) }
      let program = before.first?.name ?? ""
      for thread in own {
        if thread.name == program { trial.notes.warn("one of its threads has no name of its own", at: trial.interceptor.id) }
        if !thread.blocksSignals {
          trial.notes.warn("its thread \(thread.name) does not block signals", at: trial.interceptor.id)
        }
      }
      instance.destroy()
      let left = ThreadList.now.filter { thread in own.contains { $0.number == thread.number } }
      for thread in left { trial.notes.warn("its thread \(thread.name) still runs after destroy()", at: trial.interceptor.id) }
    })
}

extension Check {
  static let changedProcess = Check(
    "TH09", level: 5, "does not change the process or the threads of the host",
    page: Page(
      rule: """
        After create(), every hook, every call and destroy() the process and the thread are unchanged: locale, floating-point mode
        (rounding, denormal numbers), signal mask, signal actions and the alternate signal stack; working directory, umask,
        resource limits, environment, timers; user, capabilities and seccomp filters; name, priority and processors of the thread;
        and page protection: no code becomes writable, no data becomes executable.

        srand() and related functions, setlocale(), mallopt(), register_printf_specifier(), setitimer(), alarm(), and functions that
        set the priority or the processors of the host's thread are never called on a thread of the host. Changes of the environment and of signals are accepted if the note
        declares the function: "capabilities":["setenv"].
        """,
      reason: """
        These settings belong to the whole process. A changed locale writes a comma for a decimal point, a changed working
        directory breaks relative paths, and a changed mask blocks signals. setenv() moves the environment while other threads
        read it, and they crash. A lower priority or another signal stack of the thread affects all its requests. A seccomp filter
        cannot be removed.
        """,
      example: #"""
        setlocale(LC_ALL, "");  setenv("TZ", "UTC", 1);  nice(10);
        cc -ffast-math …        /* flushes denormal numbers to zero for all of the thread that loads it */
        """#,
      remedy: """
        Use functions that take these settings as arguments (strtod_l, openat, uselocale for this thread and back). Set the
        priority only of your own threads. Read settings from the configuration, and random numbers from getrandom() or
        random_r().
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      // libc reserves a signal when it starts its first thread.
      TestHostThread {}.join()
      let declared = trial.options.capabilities
      if let code = unsafe trial.stages.first?.code { _ = unsafe CTestHost_watchChanges(code) }
      let before = ProcessSnapshot.now
      // A change is reported once, at the first place.
      let known = Mutex<Set<String>>([])
      @Sendable func look(_ place: String) {
        var found = ProcessSnapshot.now.differences(from: before, declared: declared)
        while let name = unsafe CTestHost_takeChange() {
          let name = unsafe String(cString: name)
          if !declared.contains(name) { found.append("it calls \(name)() on a thread of the host") }
        }
        for change in found where known.withLock({ $0.insert(change).inserted }) { trial.notes.fail(change, at: place) }
      }
      let instance = try trial.instance()
      look("\(trial.interceptor.id) create")
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, hook in if !isBefore { look("\(place).\(hook.name)") } }
        for exchange in Exchange.usual {
          _ = trial.travel([exchange], stage, instance, settings)
          look("\(place), after \(exchange.name)")
        }
        let calls = LongRun(trial, stage, instance).run(trial.options.times(5000, atLeast: 3500))
        look("\(place), within \(calls) calls")
      }
      instance.destroy()
      look("\(trial.interceptor.id) destroy")
    })
}
