extension Check {
  /// Why the check does not run the plugin in a worker in a test with workers; nil if it does.
  package var inProcessReason: String? {
    switch group {
    case "SY", "DS": "it reads the file and its tables, which are the same in a worker"
    case "LD": "it maps the file in several ways, and looks at the process before and after"
    case "ME": "it watches each access to memory"
    case "PR": "it watches processes, descriptors and system calls beside the walls of a worker"
    case "PF": "it counts instructions and allocations of hooks"
    case "SF": "a host does not ask a worker for crb.selftest/1"
    default: Self.inProcessReasons[id]
    }
  }

  /// Whether the check runs the plugin in a worker in a test with workers.
  package var crosses: Bool { inProcessReason == nil }

  private static let inProcessReasons = [
    "LC01": "it measures the process of the plugin",
    "LC02": "it reads the place in which create() stores an instance, and measures the process",
    "LC03": "it measures the process of the plugin",
    "LC04": "a worker calls create() only after validate()",
    "LC09": "it ends the process of the plugin with exit(), which no host does with a worker",
    "LC10": "it watches a function of libc",
    "SE08": "it reads output that libc still holds in the process",
    "SE20": "it sets the locale of the process",
    "ER06": "it decides when timers fire, and those of a worker fire by themselves",
    "ST05": "it measures the process of the plugin",
    "ST08": "it decides when timers fire, and those of a worker fire by themselves",
    "TH06": "it measures the processor time of the thread",
    "TH07": "it looks at the threads of the process",
    "TH08": "it watches a function of libc",
    "TH09": "it looks at the process before and after",
    "TH10": "it watches functions of libc",
    "TH11": "it runs hooks step by step, and reads the memory of the plugin",
    "HR01": "it maps the file more than once",
    "HR02": "it maps the file more than once",
    "HR03": "it maps the file more than once",
    "HR04": "it calls the functions of crb.state/1, whose table stays in a worker",
  ]
}

extension Check {
  /// Why the check would prove nothing about a plugin with AddressSanitizer or ThreadSanitizer; nil if it proves something.
  var sanitizerReason: String? {
    switch id {
    case "LC01", "LC02", "LC03", "ME11", "ST05", "HR03": "it measures the process, whose memory a sanitizer keeps"
    case "ME06", "SE14": "the allocator of a sanitizer does not overwrite freed memory"
    default: group == "PF" ? "a sanitizer adds to what hooks cost" : nil
    }
  }
}
