import Foundation
import TestTools
import Testing

/// The confinement of a worker, and what happens on a system that lacks a part of it.
@Suite("Confinement of a worker")
struct WorkerConfinementTests {
  @Test(
    "a worker has every layer, for every user that starts it; a missing namespace has its reason", .rule("worker.7", "worker.60"))
  func layers() async throws {
    let scratch = try FixturePlugin.Folder()
    for user in await TestUser.available(in: scratch) {
      let run = try await WorkerRun(as: user)
      #expect(run.status == 0, "as \(user): \(run)")
      #expect(run.isConfined)
      #expect(run.inForce.union(run.missing.keys) == WorkerRun.Layer.all)
      // A container may allow no namespaces, and Landlock or the root is enough as a wall around files.
      let optional: Set = await WorkerRun.hasNamespaces(user) ? [] : [WorkerRun.Layer.namespaces, WorkerRun.Layer.root]
      for (layer, reason) in run.missing {
        #expect(optional.contains(layer), "as \(user), \(layer): \(reason)")
        #expect(reason.contains(" failed: "), "\(reason)")
        #expect(reason.contains("Allow user namespaces"), "\(reason)")
      }
    }
  }

  @Test(
    "without a wall around files, or without a filter of system calls, strict refuses and says why", .rule("worker.7"),
    arguments: [
      ([.namespaces, .landlock], [WorkerRun.Layer.files, WorkerRun.Layer.root, WorkerRun.Layer.namespaces]),
      ([.mounts, .landlock], [WorkerRun.Layer.files, WorkerRun.Layer.root]), ([.seccomp], [WorkerRun.Layer.calls]),
    ] as [([WorkerRun.Feature], [String])])
  func refusal(_ lacking: [WorkerRun.Feature], _ layers: [String]) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile("int nothing;", into: folder)
    let run = try await WorkerRun(["--plugin", plugin], without: lacking)
    #expect(run.status == 3, "\(run)")
    #expect(!run.isConfined)
    #expect(!run.isMapped)
    for layer in layers {
      #expect(run.missing[layer]?.contains(" failed: ") == true, "\(run.output)")
      // The next thing to do is a sentence of its own.
      #expect(run.missing[layer]?.contains(". ") == true, "\(run.output)")
    }
    let available = try await WorkerRun(["--plugin", plugin, "--confine", "available"], without: lacking)
    #expect(available.status == 0, "\(available)")
    #expect(available.missing == run.missing)
    #expect(available.isMapped)
  }

  @Test(
    "Landlock alone is a wall around files, and so is a root of its own", .rule("worker.7"),
    arguments: [
      (.namespaces, WorkerRun.Layer.root), (.mounts, WorkerRun.Layer.root), (.landlock, WorkerRun.Layer.files),
    ] as [(WorkerRun.Feature, String)])
  func oneWall(_ lacking: WorkerRun.Feature, _ layer: String) async throws {
    let hasNamespaces = await WorkerRun.hasNamespaces(.current)
    let run = try await WorkerRun(without: [lacking])
    #expect(run.missing[layer]?.isEmpty == false, "\(run)")
    #expect(run.status == (lacking == .landlock && !hasNamespaces ? 3 : 0), "\(run)")
  }

  @Test("in a container with one user, a worker is root without privileges, and this is reported", .rule("worker.7"))
  func oneUser() async throws {
    guard await WorkerRun.hasNamespaces(.current) else { return }
    let run = try await WorkerRun(through: ["/usr/bin/unshare", "--user", "--map-root-user"])
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("cannot become user 65534: "), "\(run)")
    #expect(run.missing["another user than root"]?.contains("the user is root. ") == true, "\(run)")
    #expect(run.inForce.isSuperset(of: ["no privileges", WorkerRun.Layer.namespaces, WorkerRun.Layer.root]), "\(run)")
  }

  @Test("a worker has no more than it needs", .rule("worker.11", "worker.16", "worker.18", "worker.47", "worker.60"))
  func holdings() async throws {
    let (folder, neighbour) = (try FixturePlugin.Folder(), try FixturePlugin.Folder())
    for place in [folder, neighbour] { try Data("x".utf8).write(to: place.file("text")) }
    let plugin = try await FixturePlugin.compile(
      at: Repository.root.appending(path: "Tests/Fixtures/Confinement/holdings.c").path,
      defining: ["READS=\"\(folder.file("text").path)\"", "HIDDEN=\"\(neighbour.file("text").path)\""], into: folder)
    let scratch = try FixturePlugin.Folder()
    for user in await TestUser.available(in: scratch) {
      let run = try await WorkerRun(["--plugin", plugin, "--read", folder.url.path], as: user)
      #expect(run.status == 0, "as \(user): \(run)")
      var found: [String: String] = [:]
      var variables: Set<String> = []
      for line in run.errors.split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        if parts[0] == "variable" {
          variables.insert(String(parts[1].prefix { $0 != "=" }))
        } else {
          found[parts[0]] = parts.last
        }
      }
      var expected: [String: String?] = [
        "core": "0", "file": "0", "descriptors": "64", "data": "\(256 << 20)", "addresses": "\(64 << 30)", "changeable": "0",
        "reads": "1", "reads-hidden": "0", "priority": "0", "spawn": "\(EPERM)", "socket": "\(ENOSYS)", "much-memory": "0",
      ]
      if run.inForce.contains(WorkerRun.Layer.root) {
        expected.merge(
          [
            "threads": "128", "parent": "1", "score": "1000", "CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
            "folder": "/", "descriptor-0": "/dev/null", "descriptor-1": "pipe:", "descriptor-2": "pipe:", "descriptor-3": "pipe:",
            "descriptor-4": "/memfd:plugin (deleted)", "descriptor-5": nil,
          ] as [String: String?]
        ) { $1 }
      }
      for (name, value) in expected { #expect(found[name] == value, "as \(user), \(name): \(run.errors)") }
      #expect(found["user"] != "0")
      #expect(found["group"] != "0")
      #expect(variables.isSubset(of: ["LANG", "TZ", "LD_LIBRARY_PATH"]), "\(variables)")
      #expect(run.refused.contains("socket"))
    }
  }

  @Test("a refused call is reported with its name, number and address, and the worker goes on", .rule("worker.62"))
  func refusedCalls() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await WorkerRun.compile(
      """
      #include <sys/socket.h>
      #include <unistd.h>
      __attribute__((constructor)) static void begin(void) {
        for (int count = 0; count < 3; count++) socket(AF_UNIX, SOCK_STREAM, 0);
        if (fork() == 0) _exit(0);
      }
      """, into: folder)
    let run = try await WorkerRun(["--plugin", plugin])
    #expect(run.status == 0, "\(run)")
    #expect(run.refused == ["socket", "clone"])
    #expect(run.output.contains(/refused: socket, number \d+, 3 times, first at 0x[0-9a-f]+\n/), "\(run.output)")
  }

  @Test(
    "a good plugin in each language is mapped, and no call is refused", .rule("worker.17", "worker-test.43"),
    arguments: BadPlugin.good)
  func goodPlugins(_ plugin: BadPlugin) async throws {
    let built = try await plugin.built()
    // A Swift plugin finds its library by its RUNPATH, or as here by LD_LIBRARY_PATH.
    let mapped = WorkerRun.maps(of: "self").split(separator: "\n")
    let library = mapped.first { $0.hasSuffix("/libswiftCore.so") }?.split(separator: " ").last
    let libraries = URL(filePath: String(try #require(library))).deletingLastPathComponent().path
    let run = try await WorkerRun(["--plugin", built], libraries: libraries)
    #expect(run.status == 0, "\(run)")
    #expect(run.isMapped)
    #expect(run.refused == [])
  }
}
