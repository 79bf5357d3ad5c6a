// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

// Read this file from the top: settings, then the platforms on which `CloudKit` is ours, then the
// targets in order of rank. A target imports lower ranks only; `Scripts/layers` checks that against
// the table in docs/internals/architecture.md.

let callersActor = "NonisolatedNonsendingByDefault"

/// Swift 6 language mode plus the upcoming features that the whole package is written in.
let features = [
    // SE-0335: existentials are visible.
    "ExistentialAny",
    // SE-0409: imports do not leak into clients.
    "InternalImportsByDefault",
    // SE-0444: members come only from modules that the file imports.
    "MemberImportVisibility",
    // SE-0470: conformances of isolated types are isolated.
    "InferIsolatedConformances",
    // SE-0461: an async function stays on its caller's actor; heavy work says @concurrent.
    callersActor,
    // SE-0481: weak captures are immutable.
    "ImmutableWeakCaptures",
]

/// On Apple platforms `import CloudKit` is Apple's framework; ours exists where Apple has none.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])

/// Builds our `CloudKit` everywhere, for a package that gives it another module name by an alias.
///
/// Without an alias it would stand in the way of Apple's framework.
let isPortable = Context.environment["CLOUDKIT_PORTABLE"] != nil

let cloudKit: Target.Dependency =
    .target(name: "CloudKit", condition: isPortable ? nil : whereAppleHasNone)
let coreLocation: Target.Dependency = .target(name: "CoreLocation", condition: whereAppleHasNone)
/// The macro plugin, with the trait that brings it.
let macros: Target.Dependency =
    .target(name: "CloudKitMacros", condition: .when(traits: ["Macros"]))
let uniformTypeIdentifiers: Target.Dependency =
    .target(name: "UniformTypeIdentifiers", condition: whereAppleHasNone)

// The traits behind which each product of another package stands: who switches all of them off resolves
// no package. docs/internals/architecture.md says why, and Scripts/weight counts.
let client: Set = ["Client"]
let server: Set = ["Server"]
let clientOrServer: Set = ["Client", "Server"]
let storeOrServer: Set = ["Store", "Server"]

/// libpq as the system has it, with the trait that needs it.
let postgres: Target.Dependency =
    .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"]))

/// A product of another package, which is fetched and built with one of the traits.
func external(
    _ product: String,
    of package: String,
    with traits: Set<String>
) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: traits))
}

let asyncHTTPClient = external("AsyncHTTPClient", of: "async-http-client", with: client)
let argumentParser = external("ArgumentParser", of: "swift-argument-parser", with: server)
let configuration = external("Configuration", of: "swift-configuration", with: server)
let crypto = external("Crypto", of: "swift-crypto", with: clientOrServer)
let cryptoExtras = external("CryptoExtras", of: "swift-crypto", with: clientOrServer)
let grdb = external("GRDB", of: "GRDB.swift", with: storeOrServer)
let httpTypes = external("HTTPTypes", of: "swift-http-types", with: server)
let hummingbird = external("Hummingbird", of: "hummingbird", with: server)
let hummingbirdCore = external("HummingbirdCore", of: "hummingbird", with: server)
let logging = external("Logging", of: "swift-log", with: clientOrServer)
let metrics = external("Metrics", of: "swift-metrics", with: server)
let nioCore = external("NIOCore", of: "swift-nio", with: clientOrServer)
let nioEmbedded = external("NIOEmbedded", of: "swift-nio", with: clientOrServer)
let nioFileSystem = external("_NIOFileSystem", of: "swift-nio", with: clientOrServer)
let nioHTTP1 = external("NIOHTTP1", of: "swift-nio", with: clientOrServer)
let nioHTTPCompression = external(
    "NIOHTTPCompression",
    of: "swift-nio-extras",
    with: clientOrServer
)
let nioHTTPTypes = external("NIOHTTPTypes", of: "swift-nio-extras", with: clientOrServer)
let nioPosix = external("NIOPosix", of: "swift-nio", with: clientOrServer)
let nioSSL = external("NIOSSL", of: "swift-nio-ssl", with: clientOrServer)
let serviceLifecycle = external("ServiceLifecycle", of: "swift-service-lifecycle", with: server)
let unixSignals = external("UnixSignals", of: "swift-service-lifecycle", with: server)

/// The packages that assets in S3 need, with the trait that brings them; Client and Server have them too.
let s3: [Target.Dependency] = [
    ("AsyncHTTPClient", "async-http-client"), ("Crypto", "swift-crypto"), ("NIOCore", "swift-nio"),
    ("NIOHTTP1", "swift-nio"),
].map { external($0.0, of: $0.1, with: ["S3"]) }
/// Assets in S3, with the same trait.
let assetsInS3: Target.Dependency =
    .target(name: "CloudKitServerS3", condition: .when(traits: ["S3"]))

/// Data in PostgreSQL, with the trait that needs libpq.
let dataInPostgres: Target.Dependency =
    .target(name: "CloudKitServerPostgres", condition: .when(traits: ["PostgreSQL"]))

/// A product of swift-syntax, which is fetched and built with the trait `Macros` alone.
func swiftSyntax(_ product: String) -> Target.Dependency {
    .product(name: product, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

let package = Package(
    name: "swift-cloudkit",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CloudKit", targets: ["CloudKit"]),
        .library(name: "CloudKitExtras", targets: ["CloudKitExtras"]),
        .library(name: "CloudKitCodable", targets: ["CloudKitCodable"]),
        .library(
            name: "NestedCloudKitCodable",
            targets: ["NestedCloudKitCodable", "NestedCKCodable"]
        ),
        .library(name: "CloudKitStore", targets: ["CloudKitStore"]),
        .library(name: "CloudKitCoreData", targets: ["CloudKitCoreData"]),
        .library(name: "CloudKitWire", targets: ["CloudKitWire"]),
        .library(name: "CloudKitWebClient", targets: ["CloudKitWebClient"]),
        .library(name: "CloudKitServerCore", targets: ["CloudKitServerCore"]),
        .library(name: "CloudKitServer", targets: ["CloudKitServer"]),
        .library(name: "CloudKitServerPostgres", targets: ["CloudKitServerPostgres"]),
        .library(name: "CloudKitTesting", targets: ["CloudKitTesting"]),
        .library(name: "CloudKitStoreTesting", targets: ["CloudKitStoreTesting"]),
        .executable(name: "cloudkit", targets: ["CloudKitTool"]),
    ],
    traits: [
        .default(enabledTraits: ["Client", "Store", "Server"]),
        .trait(
            name: "Client",
            description: "CloudKit Web Services, and the CloudKit module where Apple has none"
        ),
        .trait(
            name: "Store",
            description:
                "CloudKitStore and CloudKitCoreData over GRDB; off Apple's platforms with Client"
        ),
        .trait(
            name: "Server",
            description:
                "The server; with Client also CloudKitTesting, with all three the command line"
        ),
        .trait(
            name: "Macros",
            description: "@CloudKitRecord: mapping, field keys and queries at compile time"
        ),
        .trait(
            name: "PostgreSQL",
            description: "CloudKitServerPostgres over the system's libpq; with Server"
        ),
        .trait(name: "S3", description: "Assets of the command line's server in S3; with Server"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Resolved and built for the HTTP client anyway; without traits, as it asks for it.
        .package(
            url: "https://github.com/apple/swift-configuration",
            from: "1.4.0",
            traits: []
        ),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle",
            from: "2.13.0"
        ),
        .package(url: "https://github.com/swiftlang/swift-syntax", "603.0.1"..<"604.0.0"),
    ],
    targets: [
        // Rank 0: stand-ins for the Apple modules whose types CloudKit's API and asset values name.
        .target(name: "CoreLocation"),
        .target(name: "UniformTypeIdentifiers"),

        // Rank 0: zlib as the system has it.
        .systemLibrary(
            name: "CloudKitZlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),

        // Rank 0: libpq as the system has it; needed with the trait `PostgreSQL` alone.
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),

        // Rank 0: the files of the dashboard, which the preprocessor embeds: in Swift an array of their
        // bytes takes the compiler eight seconds for each 100 kB.
        .target(name: "CDashboard", exclude: ["Page"]),

        // Rank 0: the folders of processes' own files. No dependencies: the mapper uses it on a Mac.
        .target(name: "CloudKitFiles"),

        // Rank 0: what several targets need of Swift and of text. No dependencies, as above.
        .target(name: "CloudKitBasics"),

        // Rank 0: the grammar of schemas, for the mapper and for the service.
        .target(name: "CloudKitSchemaLanguage"),

        // Rank 0: what the macros write, in the plugin that the compiler loads; empty without the trait. No
        // target depends on it except for its macros: SwiftPM would build swift-syntax a second time.
        .macro(
            name: "CloudKitMacros",
            dependencies: [
                swiftSyntax("SwiftCompilerPlugin"), swiftSyntax("SwiftDiagnostics"),
                swiftSyntax("SwiftSyntax"), swiftSyntax("SwiftSyntaxBuilder"),
                swiftSyntax("SwiftSyntaxMacros"),
            ]
        ),

        // Rank 1: the protocol as values, no I/O. Client and server meet here and nowhere else.
        .target(name: "CloudKitWire", dependencies: ["CloudKitBasics"]),

        // Rank 2: the protocol as async Swift; the service without HTTP and without SQL.
        .target(
            name: "CloudKitWebClient",
            dependencies: [
                "CloudKitBasics", "CloudKitWire", asyncHTTPClient, crypto, logging, nioCore,
                nioFileSystem, nioHTTP1, nioHTTPCompression, nioPosix, nioSSL,
            ]
        ),
        .target(
            name: "CloudKitServerCore",
            dependencies: [
                "CloudKitBasics", "CloudKitSchemaLanguage", "CloudKitWire", crypto, cryptoExtras,
            ]
        ),

        // Rank 3: Apple's API over the web client; the storage engines for the core, of which the one on
        // PostgreSQL is empty without its trait.
        .target(
            name: "CloudKit",
            dependencies: [
                "CloudKitBasics", "CloudKitFiles", "CloudKitWebClient", "CloudKitWire",
                coreLocation,
            ]
        ),
        .target(
            name: "CloudKitServerSQLite",
            dependencies: [
                "CloudKitBasics", "CloudKitFiles", "CloudKitServerCore", "CloudKitWire", crypto,
                grdb,
            ]
        ),

        .target(
            name: "CloudKitServerPostgres",
            dependencies: [
                "CloudKitBasics", "CloudKitServerCore", "CloudKitWire", crypto, postgres,
            ]
        ),

        // Rank 3: a storage for assets in S3; empty without the trait `S3`.
        .target(
            name: "CloudKitServerS3",
            dependencies: ["CloudKitBasics", "CloudKitServerCore"] + s3
        ),

        // Rank 4: what Apple's framework lacks; the mapping; the HTTP face of the core.
        .target(name: "CloudKitExtras", dependencies: [cloudKit, "CloudKitWebClient"]),
        .target(
            name: "CloudKitCodable",
            dependencies: [
                cloudKit, "CloudKitBasics", "CloudKitFiles", "CloudKitSchemaLanguage", coreLocation,
                macros, uniformTypeIdentifiers,
            ]
        ),
        .target(
            name: "CloudKitServer",
            dependencies: [
                "CDashboard", "CloudKitBasics", "CloudKitServerCore", "CloudKitServerSQLite",
                "CloudKitWire", "CloudKitZlib", hummingbird, hummingbirdCore, httpTypes, logging,
                metrics, nioCore, nioHTTP1, nioHTTPTypes, serviceLifecycle,
            ]
        ),

        // Rank 5: the API of NestedCloudKitCodable, under both of its module names.
        .target(name: "NestedCloudKitCodable", dependencies: [cloudKit, "CloudKitCodable"]),
        .target(name: "NestedCKCodable", dependencies: ["NestedCloudKitCodable"]),

        // Rank 5: the offline-first store.
        .target(
            name: "CloudKitStore",
            dependencies: [
                cloudKit, "CloudKitBasics", "CloudKitFiles", coreLocation, crypto, grdb,
            ]
        ),

        // Rank 5: a whole cloud in the test's own process.
        .target(
            name: "CloudKitTesting",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitServerCore", "CloudKitServerSQLite",
                "CloudKitWebClient", "CloudKitWire",
            ]
        ),

        // Rank 6: an app's tables on several devices, in the test's own process.
        .target(
            name: "CloudKitStoreTesting",
            dependencies: [
                cloudKit, "CloudKitServerCore", "CloudKitStore", "CloudKitTesting",
                "CloudKitWebClient", grdb,
            ]
        ),

        // Rank 6: models, stores, schemas and records of Core Data and SwiftData.
        .target(
            name: "CloudKitCoreData",
            dependencies: [
                cloudKit, "CloudKitBasics", "CloudKitCodable", "CloudKitFiles", "CloudKitStore",
                "CloudKitZlib", grdb,
            ]
        ),

        // Rank 7: the command line, as a library and as the executable that starts it.
        .target(
            name: "CloudKitCLI",
            dependencies: [
                cloudKit, coreLocation, "CloudKitBasics", "CloudKitCodable", "CloudKitCoreData",
                "CloudKitExtras", "CloudKitServer", "CloudKitServerCore", "CloudKitServerSQLite",
                "CloudKitStore", "CloudKitWebClient", "CloudKitWire", assetsInS3, dataInPostgres,
                argumentParser, configuration, grdb, hummingbird, logging, serviceLifecycle,
                unixSignals,
            ]
        ),
        .executableTarget(name: "CloudKitTool", dependencies: ["CloudKitCLI", argumentParser]),

        // Tests, in the order of what they test.
        .testTarget(name: "CloudKitBasicsTests", dependencies: ["CloudKitBasics"]),
        .testTarget(name: "CloudKitWireTests", dependencies: ["CloudKitWire"]),
        .testTarget(
            name: "CloudKitWebClientTests",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitWebClient", "CloudKitWire", "Support",
                asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]
        ),
        .testTarget(
            name: "CloudKitTests",
            dependencies: [cloudKit, coreLocation, "CloudKitBasics", "Support"]
        ),
        .testTarget(
            name: "CloudKitQueryTests",
            dependencies: [
                cloudKit, coreLocation, "CloudKitCodable", "CloudKitTesting", "CloudKitWebClient",
                "Support",
            ]
        ),
        // Users' code, compiled with users' settings: see the end of this file.
        .testTarget(
            name: "CloudKitSourceCompatTests",
            dependencies: [cloudKit, coreLocation, uniformTypeIdentifiers]
        ),
        .testTarget(
            name: "CloudKitCodableTests",
            dependencies: [
                cloudKit, coreLocation, uniformTypeIdentifiers, "CloudKitCodable", "CloudKitFiles",
                "CloudKitTesting", "Support",
            ]
        ),
        // The compiler itself runs the macros.
        .testTarget(
            name: "CloudKitMacrosTests",
            dependencies: ["CloudKitCodable", "ProcessFixtures"]
        ),
        .testTarget(
            name: "CloudKitServerCoreTests",
            dependencies: [
                "CloudKitServerCore", "CloudKitServerSQLite", "CloudKitWire", "FuzzTargets",
                "HTTPFixtures", "ServerFixtures", crypto,
            ],
            // Files of earlier formats, which the tests open where they stand in the sources.
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "CloudKitServerSQLiteTests",
            dependencies: [
                "AssetStorageConformance",
                "CloudKitServerCore", "CloudKitServerSQLite", "CloudKitWire",
                "StorageConformance", grdb,
            ]
        ),
        .testTarget(
            name: "CloudKitServerPostgresTests",
            dependencies: [
                "AssetStorageConformance", "CloudKitServerCore", "CloudKitServerPostgres",
                "CloudKitServerSQLite", "CloudKitWire", "PostgresFixtures", "ServerFixtures",
                "StorageConformance",
            ]
        ),
        // Several nodes on one database, as they are operated, while things fail.
        .testTarget(
            name: "PostgresOperationsTests",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitServer", "CloudKitServerCore",
                "CloudKitServerPostgres", "CloudKitServerSQLite", "CloudKitStore",
                "CloudKitWebClient", "CloudKitWire", "HTTPFixtures", "PostgresFixtures",
                "ProcessFixtures", "ServerFixtures", "ServerProcess", "Support", grdb, logging,
            ]
        ),
        .testTarget(
            name: "CloudKitServerS3Tests",
            dependencies: [
                "AssetStorageConformance", "CloudKitBasics", "CloudKitServerCore",
                "CloudKitServerS3", "CloudKitServerSQLite", "CloudKitWebClient", "CloudKitWire",
                "ServerFixtures",
            ] + s3,
            // Signatures by another program, which the tests open where they stand in the sources.
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "CloudKitServerTests",
            dependencies: [
                "CloudKitServer", "CloudKitServerCore", "CloudKitServerSQLite", "CloudKitWire",
                "HTTPFixtures", "ProcessFixtures", "ServerFixtures", "ServerProcess",
                asyncHTTPClient, crypto, logging, metrics, nioCore, nioEmbedded, nioHTTP1, nioPosix,
                serviceLifecycle,
            ]
        ),

        // Test support: what server tests share, the suite that every storage engine must pass, and
        // a server in a process of its own that a test can kill.
        .target(
            name: "ServerFixtures",
            dependencies: ["CloudKitServerCore", "CloudKitServerSQLite", "CloudKitWire"],
            path: "Tests/ServerFixtures"
        ),
        .target(
            name: "HTTPFixtures",
            dependencies: [
                "CloudKitServer", "CloudKitServerCore", "ServerFixtures", asyncHTTPClient, logging,
                nioCore, nioHTTP1,
            ],
            path: "Tests/HTTPFixtures"
        ),
        // A process that a test starts beside its own.
        .target(name: "ProcessFixtures", path: "Tests/ProcessFixtures"),
        // A PostgreSQL server of the tests, and the network to it; empty without the trait.
        .target(
            name: "PostgresFixtures",
            dependencies: ["CloudKitServerPostgres"],
            path: "Tests/PostgresFixtures"
        ),
        .target(
            name: "FuzzTargets",
            dependencies: ["CloudKitServerCore", "CloudKitWire", "ServerFixtures"],
            path: "Tests/FuzzTargets"
        ),
        .target(
            name: "AssetStorageConformance",
            dependencies: ["CloudKitServerCore"],
            path: "Tests/AssetStorageConformance"
        ),
        .target(
            name: "StorageConformance",
            dependencies: ["CloudKitServerCore", "CloudKitWire"],
            path: "Tests/StorageConformance"
        ),
        .executableTarget(
            name: "ServerProcess",
            dependencies: [
                "CloudKitServer", "CloudKitServerCore", "CloudKitServerPostgres",
                "CloudKitServerSQLite", "CloudKitWire", logging, serviceLifecycle, unixSignals,
            ],
            path: "Tests/ServerProcess"
        ),
        // An app's process with a store, that a test can kill.
        .executableTarget(
            name: "StoreProcess",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitStore", "CloudKitWebClient", grdb,
            ],
            path: "Tests/StoreProcess"
        ),
        .testTarget(
            name: "CloudKitStoreTestingTests",
            dependencies: ["CloudKitStore", "CloudKitStoreTesting", grdb]
        ),
        .testTarget(
            name: "CLITests",
            dependencies: [
                cloudKit, "CloudKitCLI", "CloudKitExtras", "CloudKitServer",
                "CloudKitServerPostgres", "CloudKitTool", "CloudKitWebClient", "PostgresFixtures",
                "ProcessFixtures", grdb,
            ]
        ),
        .target(
            name: "Support",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitServer", "CloudKitServerCore",
                "CloudKitServerSQLite", "CloudKitTesting", "CloudKitWebClient", "PostgresFixtures",
                logging,
            ],
            path: "Tests/Support"
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitTesting", "CloudKitWebClient",
                "ProcessFixtures", "ServerProcess", "Support", crypto,
            ]
        ),

        .testTarget(
            name: "CloudKitSyncEngineTests",
            dependencies: [
                cloudKit, "CloudKitExtras", "CloudKitTesting", "CloudKitWebClient", "Support",
                crypto,
            ]
        ),

        .testTarget(
            name: "CloudKitStoreTests",
            dependencies: [
                cloudKit, coreLocation, "CloudKitCoreData", "CloudKitExtras", "CloudKitStore",
                "CloudKitTesting", "CloudKitWebClient", "ProcessFixtures", "StoreProcess",
                "Support", grdb,
            ],
            // A file of an earlier version, which the tests open where it stands in the sources.
            exclude: ["Fixtures"]
        ),

        .testTarget(
            name: "CloudKitCoreDataTests",
            dependencies: ["CloudKitCodable", "CloudKitCoreData", "CloudKitServerCore", grdb],
            // Models and stores, which the tests open where they stand in the sources.
            exclude: ["Fixtures"]
        ),

        // The repository itself: its scripts, its sources as text, and the code in its documents.
        .testTarget(name: "ProjectTests"),
        .testTarget(
            name: "SnippetTests",
            dependencies: [
                cloudKit, "CloudKitCodable", "CloudKitCoreData", "CloudKitExtras", "CloudKitServer",
                "CloudKitStore", "CloudKitStoreTesting", "CloudKitTesting", "CloudKitWebClient",
                "Support", asyncHTTPClient, grdb, hummingbird, logging, nioSSL,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// libFuzzer brings the main function, so the executable exists for `Scripts/fuzz` alone.
if Context.environment["CLOUDKIT_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(name: "Fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Sources")
    )
}

/// Makes warnings errors in `make test` and `make check`.
///
/// The symbols of other modules are left out of the index, which took up to a third of a module's time.
/// The rest of the index stays: SwiftPM looks for XCTest's tests in it.
///
/// Users' builds do not set the variable, so that a newer compiler's warning never breaks them.
let scriptsSettings: [SwiftSetting] =
    Context.environment["CLOUDKIT_WARNINGS_AS_ERRORS"] == nil
    ? []
    : [
        .treatAllWarnings(as: .error),
        .unsafeFlags(["-index-ignore-system-modules", "-index-ignore-clang-modules"]),
    ]

/// What users write is compiled as they compile it: in Swift 6 mode, with no feature ahead of it.
///
/// `Scripts/swift5` compiles it in Swift 5 mode.
let compiledLikeUsersCode = ["CloudKitSourceCompatTests"]

/// Apple's module is compiled without SE-0461, so that async requirements do not move methods.
///
/// With it a class of the main actor that conforms to
/// `CKSyncEngineDelegate` would have to say `@MainActor` again at each method.
let compiledLikeApples = ["CloudKit"]

func settings(of target: String) -> [SwiftSetting] {
    if compiledLikeUsersCode.contains(target) { return [] }
    return
        features
        .filter { $0 != callersActor || !compiledLikeApples.contains(target) }
        .map { .enableUpcomingFeature($0) }
        + (isPortable ? [.define("PORTABLE_CLOUDKIT")] : [])
}

/// What tests our `CloudKit`, or with it: Apple's signs no containers in.
let testsOurCloudKit: Set = [
    "Support", "StoreProcess", "CloudKitTests", "CloudKitQueryTests", "CloudKitCodableTests",
    "EndToEndTests", "CloudKitSyncEngineTests", "CloudKitStoreTests", "CLITests", "SnippetTests",
    "CloudKitStoreTestingTests", "CloudKitWebClientTests", "PostgresOperationsTests",
]

#if os(macOS)
// A build of this package for Apple platforms makes every target but those that another one names
// under a condition that does not hold. So it makes none of our `CloudKit`, which compilers would find
// before Apple's, and none of `CloudKitTesting` and what is above it. They stay in the manifest: another package that
// names their products for Linux could not be loaded without them.
if !isPortable {
    package.targets.removeAll { testsOurCloudKit.contains($0.name) }
    package.targets.first { $0.name == "ProjectTests" }?.dependencies += [
        .target(name: "CloudKitTesting", condition: whereAppleHasNone),
        .target(name: "CloudKitStoreTesting", condition: whereAppleHasNone),
    ]
}
#endif

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings =
        (target.swiftSettings ?? []) + settings(of: target.name) + scriptsSettings
}
