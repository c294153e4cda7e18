// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// `CARABINER_PACKAGE` leaves out parts of the package that a run does not need, because building takes most of its time.
///
/// `libraries` has the libraries that plugins and embedding programs link. `memory` has, of those and of the harness, what uses memory by
/// pointers, with its tests. `sanitized` adds the harness and the gateway to the libraries, and leaves out the executable, the demo server
/// and the tests that no sanitizer runs. `fuzz` and `bench` are `libraries` with what `Scripts/scenario fuzz` and `Scripts/measure chain`
/// run; `bench-own` is `bench` without the peer that takes most of the building.
let flavor = ProcessInfo.processInfo.environment["CARABINER_PACKAGE"]
let librariesOnly = ["libraries", "fuzz", "bench", "bench-own", "memory", "sanitized"].contains(flavor)
let hasServers = !librariesOnly || flavor == "sanitized"
let hasHarness = hasServers || flavor == "memory"

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// For programs in C: the linker adds the Swift library to every program, except to one of embedded Swift.
let withoutSwift: [LinkerSetting] = [
  .unsafeFlags(["-enable-experimental-feature", "Embedded", "-no-toolchain-stdlib-rpath"])
]

/// The harness calls a plugin's hooks hundreds of thousands of times. A debug build is optimised here, or the tests of the harness would
/// take most of the time of all tests. Sanitizers get the code as it is written. No library has this target, so a package that depends on
/// this one by a version may build it.
let harnessSettings: [SwiftSetting] = flavor == nil ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []

let package = Package(
  name: "carabiner",
  products: [
    .library(name: "Carabiner", targets: ["Carabiner"]),
    .library(name: "CarabinerCurl", targets: ["CarabinerCurl"]),
    .library(name: "CarabinerPipeline", targets: ["CarabinerPipeline"]),
    .library(name: "CarabinerSchema", targets: ["CarabinerSchema"]),
    .library(name: "CarabinerSQLite", targets: ["CarabinerSQLite"]),
    .library(name: "CarabinerPlugin", targets: ["CarabinerPlugin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
  ],
  targets: [
    // The contract, the system libraries, and functions of Linux that the Glibc module does not have.
    .target(name: "CCarabiner"),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSwiftRuntime"),
    .systemLibrary(name: "CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),

    // The libraries, lowest first.
    .target(name: "CCrash"),
    // Facts about the program: the number of its arguments, and the commit and Swift version it was built from.
    .target(name: "CProgram"),
    // How a process confines itself, and the names of system calls.
    .target(name: "CConfine"),
    // The memory that host and worker share, and the messages between host and launcher.
    .target(name: "CCrossing"),
    .target(name: "CLaunching"),
    // The check of JSON, 64 bytes at a time.
    .target(name: "CJSON"),
    // This module is not a product, but its constants are public: the compiler folds only public constants of another module, and each hook
    // compares some.
    .target(name: "CarabinerABI", dependencies: ["CCarabiner"], swiftSettings: swiftSettings),
    .target(name: "CarabinerWire", dependencies: ["CJSON"], swiftSettings: swiftSettings),
    // The types of a GraphQL server, as values and functions without input and output.
    .target(name: "CarabinerSchema", dependencies: ["CarabinerWire"], swiftSettings: swiftSettings),
    // YAML as JSON values with their places, for manifests and configurations.
    .target(
      name: "CarabinerYAML", dependencies: ["CarabinerWire", .product(name: "Yams", package: "Yams")],
      swiftSettings: swiftSettings),
    // Swift code from a schema and documents, without input and output.
    .target(
      name: "CarabinerGenerator", dependencies: ["CarabinerDigest", "CarabinerSchema", "CarabinerWire"],
      swiftSettings: swiftSettings),
    // The files of the generator: its configuration, schemas, documents and Swift code.
    .target(
      name: "CarabinerGeneration",
      dependencies: ["CarabinerFiles", "CarabinerGenerator", "CarabinerSchema", "CarabinerWire", "CarabinerYAML"],
      swiftSettings: swiftSettings),
    // HTTP/1.1 as state machines without input and output, for both sides.
    .target(name: "CarabinerHTTP1", dependencies: ["CarabinerWire"], swiftSettings: swiftSettings),
    // The protocol and the addresses of Redis, without input and output.
    .target(name: "CarabinerRESP", swiftSettings: swiftSettings),
    .target(name: "CarabinerDigest", dependencies: ["CCrypto"], swiftSettings: swiftSettings),
    .target(name: "CarabinerFiles", swiftSettings: swiftSettings),
    // How a candidate reaches the nodes of a fleet, as a rule without input and output.
    .target(name: "CarabinerFleet", dependencies: ["CarabinerDigest", "CarabinerWire"], swiftSettings: swiftSettings),
    // Signed statements about files, as state and rules. Only its folder Files reads files.
    .target(name: "CarabinerRelease", dependencies: ["CarabinerDigest", "CarabinerFiles"], swiftSettings: swiftSettings),
    .target(
      name: "Carabiner",
      dependencies: [
        "CarabinerDigest", "CarabinerSchema", "CarabinerWire",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "CarabinerCurl", dependencies: ["Carabiner", "CarabinerHTTP1", "CarabinerWire", "CCurl", "CLinux", "CZlib"],
      swiftSettings: swiftSettings),
    .target(name: "CarabinerSQLite", dependencies: ["Carabiner", "CarabinerFiles", "CSQLite"], swiftSettings: swiftSettings),
    // Interceptors with callbacks, for code of the 1.x generation.
    .target(
      name: "CarabinerPipeline",
      dependencies: [
        "Carabiner", "CarabinerCurl", "CarabinerDigest", "CarabinerWire",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "CarabinerManifest",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerFiles", "CarabinerFleet", "CarabinerRESP", "CarabinerSchema", "CarabinerWire",
        "CarabinerYAML",
      ],
      swiftSettings: swiftSettings),
    // The bridge to a plugin in the same process: its file, its calls, and what the host offers it.
    .target(
      name: "CarabinerBridge",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerDigest", "CarabinerFiles", "CarabinerManifest", "CarabinerWire", "CCarabiner",
        "CCrash", "CLinux", "CProgram",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    // Plugins in processes of their own, which look to the bridge like any plugin.
    .target(
      name: "CarabinerWorkers",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerBridge", "CarabinerFiles", "CarabinerManifest", "CarabinerWire", "CCarabiner",
        "CConfine", "CCrossing", "CLaunching", "CLinux",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    // The interceptors of a manifest's chain.
    .target(
      name: "CarabinerProvider",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerBridge", "CarabinerDigest", "CarabinerFiles", "CarabinerManifest", "CarabinerWire",
        "CarabinerWorkers", "CCarabiner", "CCrash", "CFFI", "CLinux",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .target(name: "CarabinerPlugin", dependencies: ["CCarabiner"], swiftSettings: swiftSettings),

    // `swift package generate-documentation`.
    .plugin(
      name: "GenerateDocumentation", capability: .command(intent: .documentationGeneration()),
      path: "Sources/GenerateDocumentation"),

    // How tests run compilers and other programs, and name the rules that they prove.
    .target(name: "TestTools", dependencies: ["CLinux"], path: "Tests/TestTools", swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerTests", dependencies: ["Carabiner", "CarabinerSchema", "CarabinerWire", "TestTools"],
      swiftSettings: swiftSettings),
    // A server that misbehaves on purpose, for the tests of the transport and of the command.
    .target(name: "ScriptedServer", path: "Tests/ScriptedServer", swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerCurlTests",
      dependencies: ["CarabinerCurl", "Carabiner", "CarabinerHTTP1", "CarabinerWire", "ScriptedServer", "TestTools"],
      swiftSettings: swiftSettings),
    // Samples of code of the 1.x generation, in the language mode of its users.
    .target(
      name: "PipelineSamples", dependencies: ["Carabiner", "CarabinerPipeline"], path: "Tests/PipelineSamples",
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    // What the generator makes of a schema and documents, as a module that others use.
    .target(
      name: "GeneratedSample", dependencies: ["Carabiner"], path: "Tests/GeneratedSample",
      exclude: ["Documents", "library.graphqls"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerPipelineTests",
      dependencies: [
        "CarabinerPipeline", "Carabiner", "CarabinerCurl", "GeneratedSample", "PipelineSamples", "ScriptedServer", "TestTools",
      ],
      // As in programs of users, members of the types that both generations share need no import of the core.
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .strictMemorySafety(), .treatAllWarnings(as: .error)]),
    // JSON read byte by byte, for comparison with the scan of blocks.
    .target(
      name: "JSONReference", dependencies: ["CJSON", "CarabinerWire"], path: "Tests/JSONReference", swiftSettings: swiftSettings),
    // Checks that hold for all inputs. libFuzzer runs them, and a test repeats its findings.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Carabiner", "CarabinerHTTP1", "CarabinerManifest", "CarabinerRESP", "CarabinerRelease", "CarabinerWire",
        "CarabinerWorkers", "JSONReference",
      ],
      path: "Tests/FuzzTargets",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerBridgeTests",
      dependencies: [
        "CarabinerBridge", "CarabinerProvider", "CarabinerWorkers", "Carabiner", "CarabinerABI", "CarabinerCurl",
        "CarabinerManifest", "CarabinerSQLite", "CarabinerWire",
        "CCarabiner", "FuzzTargets", "TestTools",
      ],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)

if flavor == "memory" {
  let leftOut = ["CarabinerPipeline", "CarabinerTests", "CarabinerPipelineTests", "PipelineSamples"]
  package.products.removeAll { leftOut.contains($0.name) }
  package.targets.removeAll { leftOut.contains($0.name) }
}

if flavor == "fuzz" {
  package.products.append(.executable(name: "carabiner-fuzz", targets: ["Fuzz"]))
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzz", swiftSettings: swiftSettings),
  ]
}

if flavor == "bench" || flavor == "bench-own" {
  package.products += [
    .executable(name: "carabiner-bench", targets: ["Bench"]), .executable(name: "carabiner-count", targets: ["Count"]),
  ]
  package.dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"))
  let bench = Target.executableTarget(
    name: "Bench",
    dependencies: [
      "BenchSubjects", "CBenchmark", "Carabiner", "CarabinerABI", "CarabinerCurl", "CarabinerBridge", "CarabinerProvider",
      "CarabinerManifest",
      "CarabinerSQLite",
      "CarabinerWire",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Tests/Benchmarks/Bench", swiftSettings: swiftSettings)
  if flavor == "bench" {
    package.dependencies += [
      .package(url: "https://github.com/apple/swift-nio", from: "2.0.0"),
      .package(url: "https://github.com/swift-server/async-http-client", from: "1.0.0"),
    ]
    bench.dependencies += [
      .product(name: "AsyncHTTPClient", package: "async-http-client"),
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
    ]
  }
  package.targets += [
    .target(
      name: "CBenchmark", path: "Tests/Benchmarks/CBenchmark",
      linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("simdjson")]),
    .target(
      name: "BenchSubjects",
      dependencies: ["Carabiner", "CarabinerABI", "CarabinerBridge", "CarabinerProvider", "CarabinerManifest", "CarabinerWire"],
      path: "Tests/Benchmarks/Subjects",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "Count", dependencies: ["BenchSubjects", "CBenchmark"], path: "Tests/Benchmarks/Count",
      swiftSettings: swiftSettings),
    bench,
  ]
}

// Sanitizers cover these beside the libraries: the harness, the gateway and Connect calls, with tests that start no process.
if hasHarness {
  package.targets += [
    // The harness: below Swift, and in it.
    .target(name: "CTestHost"),
    .target(
      name: "CarabinerConformance",
      dependencies: [
        "CarabinerABI", "CarabinerFiles", "CarabinerBridge", "CarabinerWorkers", "CarabinerManifest", "CarabinerWire",
        "CCarabiner", "CConfine",
        "CFFI",
        "CTestHost", "CLinux",
      ],
      swiftSettings: swiftSettings + harnessSettings),
    .testTarget(
      name: "CarabinerConformanceTests",
      dependencies: [
        "CarabinerConformance", "CCarabiner", "CarabinerABI", "CarabinerBridge", "CarabinerManifest", "CarabinerWire",
        "TestTools",
      ],
      swiftSettings: swiftSettings),
  ]
}
if hasServers {
  package.products += [
    .library(name: "CarabinerConnect", targets: ["CarabinerCalls", "CarabinerConnect"]),
    .library(name: "CarabinerGateway", targets: ["CarabinerGateway"]),
  ]
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.28.0"),
  ]
  package.targets += [
    // Spans for the steps of a chain, by any tracer, and a tracer of our own.
    .target(
      name: "CarabinerTracing",
      dependencies: ["Carabiner", "CarabinerWire", .product(name: "Tracing", package: "swift-distributed-tracing")],
      swiftSettings: swiftSettings),
    // Commands to Redis or Valkey, over NIO.
    .target(
      name: "CarabinerRedis",
      dependencies: [
        "Carabiner", "CarabinerDigest", "CarabinerRESP", "CarabinerWire",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "CarabinerGateway",
      dependencies: [
        "Carabiner", "CarabinerDigest", "CarabinerHTTP1", "CarabinerRESP", "CarabinerRedis", "CarabinerTracing",
        "CarabinerWire", "CNghttp2", "CSwiftRuntime", "CZlib", "CZstd",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      resources: [.embedInCode("Page/query-page.html")],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerGatewayTests",
      dependencies: [
        "CarabinerGateway", "Carabiner", "CarabinerWire", "CNghttp2", "CZlib", "CZstd", "ScriptedServer", "TestTools",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: swiftSettings),
    // Calls of Connect and gRPC-Web services, whose messages are bytes.
    .target(
      name: "CarabinerCalls", dependencies: ["Carabiner", "CarabinerCurl", "CarabinerWire", "CZlib"],
      swiftSettings: swiftSettings),
    // Clients and interceptors of such calls, whose messages have types. Only this module needs SwiftProtobuf, so that the command builds
    // without it.
    .target(
      name: "CarabinerConnect",
      dependencies: ["CarabinerCalls", "CarabinerWire", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
      swiftSettings: swiftSettings),
    // Samples of code for Connect-Swift, with the name that the module has there and in the language mode of its users.
    .target(
      name: "ConnectSamples",
      dependencies: ["Carabiner", "CarabinerConnect", .product(name: "SwiftProtobuf", package: "swift-protobuf")],
      path: "Tests/ConnectSamples",
      swiftSettings: [
        .swiftLanguageMode(.v5), .treatAllWarnings(as: .error), .unsafeFlags(["-module-alias", "Connect=CarabinerConnect"]),
      ]),
    .testTarget(
      name: "CarabinerConnectTests",
      dependencies: [
        "CarabinerConnect", "Carabiner", "CarabinerCurl", "CarabinerWire", "ConnectSamples", "ScriptedServer", "TestTools",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      swiftSettings: swiftSettings),
  ]
}

if !librariesOnly {
  package.products += [
    .executable(name: "carabiner", targets: ["CarabinerCommand"]),
    .executable(name: "carabiner-generate", targets: ["carabiner-generate"]),
    .plugin(name: "CarabinerGenerate", targets: ["CarabinerGenerate"]),
    .plugin(name: "GenerateGraphQL", targets: ["GenerateGraphQL"]),
    .executable(name: "carabiner-launcher", targets: ["CarabinerLauncher"]),
    .executable(name: "carabiner-worker", targets: ["CarabinerWorker"]),
    .library(name: "CarabinerPipelineSockets", targets: ["CarabinerPipelineSockets"]),
    .library(name: "CarabinerHost", targets: ["CarabinerHost"]),
    .library(name: "CarabinerService", targets: ["CarabinerService"]),
    .library(name: "CarabinerTracing", targets: ["CarabinerTracing"]),
    .library(name: "CarabinerWebSocket", targets: ["CarabinerWebSocket"]),
  ]
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ]
  package.targets += [
    .testTarget(
      name: "CarabinerABITests", dependencies: ["CarabinerABI", "CCarabiner", "TestTools"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerManifestTests",
      dependencies: ["CarabinerManifest", "Carabiner", "CarabinerABI", "CarabinerFleet", "CarabinerWire", "TestTools"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerWireTests", dependencies: ["CJSON", "CarabinerWire", "JSONReference", "TestTools"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerSchemaTests", dependencies: ["CarabinerSchema", "CarabinerWire", "TestTools"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerGeneratorTests",
      dependencies: ["Carabiner", "CarabinerGenerator", "CarabinerSchema", "CarabinerWire", "GeneratedSample", "TestTools"],
      swiftSettings: swiftSettings),
    // `carabiner generate`, and the same as a program without the host for builds: its first build by a user takes little time.
    .target(
      name: "CarabinerGenerateCommand",
      dependencies: [
        "CarabinerGeneration", "CarabinerGenerator", "CarabinerWire",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "carabiner-generate",
      dependencies: [
        "CarabinerFiles", "CarabinerGenerateCommand", "CarabinerSchema", "CarabinerWire",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings),
    // Swift code from the GraphQL documents of a target, in its build and by `swift package generate-graphql`.
    .plugin(
      name: "CarabinerGenerate", capability: .buildTool(), dependencies: ["carabiner-generate"],
      path: "Sources/CarabinerGenerate"),
    .plugin(
      name: "GenerateGraphQL",
      capability: .command(
        intent: .custom(verb: "generate-graphql", description: "Generates Swift code from a schema and GraphQL documents."),
        permissions: [.writeToPackageDirectory(reason: "The generated files are in the folder that the configuration names.")]),
      dependencies: ["carabiner-generate"], path: "Sources/GenerateGraphQL"),
    .testTarget(
      name: "CarabinerGenerationTests",
      dependencies: ["CarabinerGeneration", "CarabinerGenerator", "TestTools"], swiftSettings: swiftSettings),
    .testTarget(name: "CarabinerHTTP1Tests", dependencies: ["CarabinerHTTP1"], swiftSettings: swiftSettings),
    .testTarget(name: "CarabinerDigestTests", dependencies: ["CarabinerDigest", "TestTools"], swiftSettings: swiftSettings),
    .testTarget(name: "CarabinerFilesTests", dependencies: ["CarabinerFiles", "TestTools"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerReleaseTests", dependencies: ["CarabinerDigest", "CarabinerRelease", "TestTools"],
      swiftSettings: swiftSettings),
    // Writes to a store until it is killed.
    .executableTarget(
      name: "StoreWriter", dependencies: ["Carabiner", "CarabinerSQLite"], path: "Tests/StoreWriter", swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CarabinerSQLiteTests",
      dependencies: ["CarabinerSQLite", "Carabiner", "CarabinerWire", "StoreWriter", "TestTools"], swiftSettings: swiftSettings),
    .target(
      name: "CarabinerWebSocket",
      dependencies: [
        "Carabiner", "CarabinerDigest", "CarabinerWire",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerRedisTests",
      dependencies: [
        "Carabiner", "CarabinerRESP", "CarabinerRedis", "CarabinerWire", "ScriptedServer", "TestTools",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["Store/Golden"],
      swiftSettings: swiftSettings),
    // A client of etcd's JSON gateway, and keys that are followed.
    .target(
      name: "CarabinerEtcd", dependencies: ["Carabiner", "CarabinerCurl", "CarabinerWire"], swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerEtcdTests",
      dependencies: ["CarabinerEtcd", "Carabiner", "CarabinerCurl", "CarabinerWire", "ScriptedServer", "TestTools"],
      exclude: ["Messages/Recorded"],
      swiftSettings: swiftSettings),
    // A simulation of roll-outs in virtual time.
    .target(
      name: "FleetSimulation", dependencies: ["CarabinerFleet"], path: "Tests/FleetSimulation", swiftSettings: swiftSettings),
    .executableTarget(
      name: "SimulateFleet",
      dependencies: [
        "CarabinerFleet", "FleetSimulation", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/SimulateFleet", swiftSettings: swiftSettings),
    // Figures of a fleet, for Scripts/measure fleet.
    .executableTarget(
      name: "FleetFigures",
      dependencies: [
        "Carabiner", "CarabinerRESP", "CarabinerRedis", "CarabinerRelease", "CarabinerWire",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Benchmarks/Fleet", swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerFleetTests", dependencies: ["CarabinerFleet", "CarabinerWire", "FleetSimulation", "TestTools"],
      swiftSettings: swiftSettings),
    // A WebSocket of a scripted server.
    .target(
      name: "ScriptedSocket", dependencies: ["CarabinerDigest", "CarabinerWire", "ScriptedServer"], path: "Tests/ScriptedSocket",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerWebSocketTests",
      dependencies: [
        "CarabinerWebSocket", "Carabiner", "CarabinerCurl", "CarabinerProvider", "CarabinerManifest",
        "CarabinerSQLite", "CarabinerWire", "ScriptedServer", "ScriptedSocket", "TestTools",
      ],
      swiftSettings: swiftSettings),
    // The WebSockets of the 0.3x generation, in a module of their own because only they need NIO.
    .target(
      name: "CarabinerPipelineSockets",
      dependencies: [
        "Carabiner", "CarabinerPipeline", "CarabinerWebSocket", "CarabinerWire", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    // Samples of code of the 0.3x generation, in the language mode of its users.
    .target(
      name: "SocketSamples", dependencies: ["Carabiner", "CarabinerPipeline", "CarabinerPipelineSockets"],
      path: "Tests/SocketSamples", swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "CarabinerPipelineSocketsTests",
      dependencies: [
        "CarabinerPipelineSockets", "CarabinerPipeline", "CarabinerHost", "Carabiner", "CarabinerWebSocket", "CarabinerWire",
        "ScriptedServer", "ScriptedSocket", "SocketSamples", "TestTools",
      ],
      // As in programs of users, members of the types that both generations share need no import of the core.
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .strictMemorySafety(), .treatAllWarnings(as: .error)]),
    .testTarget(
      name: "CarabinerTracingTests",
      dependencies: [
        "CarabinerTracing", "Carabiner", "CarabinerCurl", "CarabinerWire", "ScriptedServer", "TestTools",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: swiftSettings),
    // Processes for plugins that the host does not trust. They are C and map no Swift.
    .executableTarget(name: "CarabinerLauncher", dependencies: ["CConfine", "CLaunching"], linkerSettings: withoutSwift),
    .executableTarget(
      name: "CarabinerWorker", dependencies: ["CCarabiner", "CConfine", "CCrossing"], linkerSettings: withoutSwift),
    // Plugin files from URLs, in a folder by digest.
    .target(
      name: "CarabinerDownloads",
      dependencies: [
        "Carabiner", "CarabinerCurl", "CarabinerDigest", "CarabinerFiles", "CarabinerManifest", "CarabinerRelease",
        "CarabinerWire",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerDownloadsTests",
      dependencies: [
        "CarabinerDownloads", "Carabiner", "CarabinerDigest", "CarabinerManifest", "CarabinerWire", "ScriptedServer", "TestTools",
      ],
      swiftSettings: swiftSettings),
    // Manifests from etcd and web servers.
    .target(
      name: "CarabinerSources",
      dependencies: [
        "Carabiner", "CarabinerCurl", "CarabinerEtcd", "CarabinerFiles", "CarabinerFleet", "CarabinerManifest",
        "CarabinerRelease",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerSourcesTests",
      dependencies: ["CarabinerSources", "CarabinerEtcd", "CarabinerFleet", "ScriptedServer", "TestTools"],
      swiftSettings: swiftSettings),
    // Between chain and transport: which endpoint of an upstream gets a request, and when it is sent again.
    .target(
      name: "CarabinerUpstreams",
      dependencies: [
        "Carabiner", "CarabinerCurl", "CarabinerDigest", "CarabinerFiles", "CarabinerManifest", "CarabinerWire", "CLinux",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerUpstreamsTests", dependencies: ["CarabinerUpstreams", "Carabiner", "CarabinerManifest", "TestTools"],
      swiftSettings: swiftSettings),
    // A host for one's own program: generations of a manifest, and the gateway over them.
    .target(
      name: "CarabinerHost",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerCurl", "CarabinerDigest", "CarabinerDownloads", "CarabinerFiles", "CarabinerFleet",
        "CarabinerGateway",
        "CarabinerBridge", "CarabinerProvider", "CarabinerWorkers", "CarabinerManifest", "CarabinerRESP", "CarabinerRedis",
        "CarabinerRelease", "CarabinerSQLite",
        "CarabinerSources", "CarabinerTracing", "CarabinerUpstreams", "CarabinerWebSocket", "CarabinerWire", "CLinux",
        "CProgram",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: swiftSettings),
    // The gateway as a service, in a module of its own because only it needs the groups of services.
    .target(
      name: "CarabinerService",
      dependencies: ["CarabinerHost", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")],
      swiftSettings: swiftSettings),
    // The sources of the example packages, built and run by the tests. Users build them as the packages that they are. TypedClient is not
    // among them: each build of this package would begin with the generator and its modules. Scripts/newcomer builds and runs it.
    .executableTarget(
      name: "EmbeddedClient", dependencies: ["Carabiner", "CarabinerCurl"],
      path: "Tests/Examples/EmbeddedClient/Sources/EmbeddedClient"),
    .executableTarget(
      name: "WatchedQuery", dependencies: ["Carabiner", "CarabinerCurl"],
      path: "Tests/Examples/WatchedQuery/Sources/WatchedQuery"),
    .executableTarget(
      name: "MovedClient", dependencies: ["Carabiner", "CarabinerCurl"], path: "Tests/Examples/MovedClient/Sources/BookShelf"),
    .executableTarget(
      name: "NativeInterceptor", dependencies: ["Carabiner", "CarabinerHost"],
      path: "Tests/Examples/NativeInterceptor/Sources/NativeInterceptor"),
    .executableTarget(
      name: "ConnectCalls",
      dependencies: [
        "CarabinerConnect", "CarabinerCurl", "CarabinerHost", .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      path: "Tests/Examples/ConnectCalls/Sources/ConnectCalls"),
    .executableTarget(
      name: "CallbackClient", dependencies: ["CarabinerPipeline", "CarabinerHost"],
      path: "Tests/Examples/CallbackClient/Sources/CallbackClient"),
    .executableTarget(
      name: "LegacyClient", dependencies: ["CarabinerPipeline", "CarabinerHost"],
      path: "Tests/Examples/LegacyClient/Sources/LegacyClient"),
    .executableTarget(
      name: "DelegateClient", dependencies: ["CarabinerPipeline", "CarabinerHost"],
      path: "Tests/Examples/DelegateClient/Sources/DelegateClient"),
    .executableTarget(
      name: "EmbeddedGateway",
      dependencies: ["Carabiner", "CarabinerHost"],
      path: "Tests/Examples/EmbeddedGateway/Sources/EmbeddedGateway"),
    .testTarget(
      name: "CarabinerHostTests",
      dependencies: [
        "CarabinerHost", "Carabiner", "CarabinerCurl", "CarabinerGateway", "CarabinerBridge", "CarabinerManifest",
        "CarabinerPipeline", "CarabinerRelease", "CarabinerService", "CarabinerTracing", "CarabinerUpstreams", "CarabinerWire",
        "ScriptedServer", "TestTools",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: swiftSettings),
    // A GraphQL server to try things with.
    .target(
      name: "CarabinerDemoServer",
      dependencies: [
        "Carabiner", "CarabinerDigest", "CarabinerGateway", "CarabinerSchema", "CarabinerWire",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CarabinerDemoServerTests",
      dependencies: ["CarabinerDemoServer", "CarabinerDigest", "CarabinerSchema", "CarabinerWire", "TestTools"],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "CarabinerCommand",
      dependencies: [
        "Carabiner", "CarabinerABI", "CarabinerCalls", "CarabinerConformance", "CarabinerCurl", "CarabinerDemoServer",
        "CarabinerDigest", "CarabinerDownloads", "CarabinerEtcd", "CarabinerFiles", "CarabinerFleet",
        "CarabinerGateway", "CarabinerGenerateCommand", "CarabinerGeneration", "CarabinerGenerator", "CarabinerBridge",
        "CarabinerProvider",
        "CarabinerManifest", "CarabinerRESP", "CarabinerRedis", "CarabinerRelease", "CarabinerSchema",
        "CarabinerHost", "CarabinerSQLite", "CarabinerSources", "CarabinerTracing", "CarabinerWebSocket", "CarabinerWire",
        "CProgram",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      // The files of new plugins are in the executable, so that it is one file that works in any folder.
      resources: [.embedInCode("New/Templates")],
      swiftSettings: swiftSettings),
    // How the tests of the command start its processes and read their output.
    .target(
      name: "CommandTools", dependencies: ["CarabinerWire", "TestTools"], path: "Tests/CommandTools",
      swiftSettings: swiftSettings),
    // The tests of gateways as processes, with the plugins of the catalogue, in fleets, and with signed files. As a target of their own
    // they compile beside the other tests. They do not import the command, so the build need not compile it first.
    .testTarget(
      name: "CarabinerServeTests",
      dependencies: [
        "Carabiner", "CarabinerDigest", "CarabinerEtcd", "CarabinerFleet", "CarabinerGateway", "CarabinerWire", "CommandTools",
        "ScriptedServer", "ScriptedSocket", "TestTools",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      exclude: ["Golden"],
      swiftSettings: swiftSettings),
    // The programs are dependencies because the tests run them.
    .testTarget(
      name: "CarabinerCommandTests",
      dependencies: [
        "CallbackClient", "Carabiner", "CarabinerBridge", "CarabinerProvider", "CarabinerWorkers", "CarabinerCommand",
        "CarabinerCurl", "CarabinerDigest",
        "CarabinerGateway", "CarabinerHost", "CarabinerLauncher", "CarabinerManifest", "CarabinerWire", "CarabinerWorker",
        "CommandTools", "ConnectCalls", "DelegateClient", "EmbeddedClient", "EmbeddedGateway", "LegacyClient",
        "MovedClient", "NativeInterceptor", "ScriptedServer", "TestTools", "WatchedQuery", "carabiner-generate",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["Golden"],
      swiftSettings: swiftSettings),
  ]
}
