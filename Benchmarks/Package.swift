// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that no user of swift-cloudkit resolves or builds it.
//
// One library per area, one executable that runs them all. To add an area: a target here, and a line
// in Sources/bench/Areas.swift.

let cloudKitPackage = "swift-cloudkit"

let harness: Target.Dependency = "BenchmarkHarness"
// Brings CloudKitWire.
let webClient: Target.Dependency = .product(name: "CloudKitWebClient", package: cloudKitPackage)

let codable: Target.Dependency = .product(name: "CloudKitCodable", package: cloudKitPackage)
let coreData: Target.Dependency = .product(name: "CloudKitCoreData", package: cloudKitPackage)
let cloudKit: Target.Dependency = .product(name: "CloudKit", package: cloudKitPackage)
let extras: Target.Dependency = .product(name: "CloudKitExtras", package: cloudKitPackage)
let testing: Target.Dependency = .product(name: "CloudKitTesting", package: cloudKitPackage)
let server: Target.Dependency = .product(name: "CloudKitServer", package: cloudKitPackage)
/// The storage engine on PostgreSQL, and libpq for its floors, with the trait that needs them.
let postgres: [Target.Dependency] = [
    .product(
        name: "CloudKitServerPostgres",
        package: cloudKitPackage,
        condition: .when(traits: ["PostgreSQL"])
    ),
    .target(name: "CLibpq", condition: .when(traits: ["PostgreSQL"])),
]
let store: Target.Dependency = .product(name: "CloudKitStore", package: cloudKitPackage)
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "swift-cloudkit-benchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "bench", targets: ["bench"])],
    traits: [
        .default(enabledTraits: ["Macros"]),
        // Apart, because swift-syntax takes longer to compile optimized than everything else together.
        .trait(name: "Macros", description: "Measure the mapping that @CloudKitRecord writes"),
        .trait(
            name: "PostgreSQL",
            description: "Measure the server on PostgreSQL; needs the system's libpq"
        ),
    ],
    dependencies: [
        .package(
            name: cloudKitPackage,
            path: "..",
            traits: [
                .defaults, .trait(name: "Macros", condition: .when(traits: ["Macros"])),
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
    ],
    targets: [
        .target(name: "BenchmarkHarness"),
        .systemLibrary(
            name: "CLibpq",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(name: "WireBenchmarks", dependencies: [harness, webClient]),
        .target(name: "ClientBenchmarks", dependencies: [harness, cloudKit, extras, webClient]),
        .target(name: "CodableBenchmarks", dependencies: [harness, codable]),
        .target(name: "EngineBenchmarks", dependencies: [harness, cloudKit, testing]),
        .target(
            name: "ServerBenchmarks",
            dependencies: [harness, webClient, server, grdb, hummingbird, logging] + postgres
        ),
        .target(
            name: "AppleBenchmarks",
            dependencies: [harness, cloudKit, extras, webClient, server, hummingbird, logging]
        ),
        .target(
            name: "StoreBenchmarks",
            dependencies: [harness, cloudKit, store, testing, grdb]
        ),
        .target(name: "CoreDataBenchmarks", dependencies: [harness, coreData, grdb]),
        .executableTarget(
            name: "bench",
            dependencies: [
                harness, "AppleBenchmarks", "ClientBenchmarks", "CodableBenchmarks",
                "CoreDataBenchmarks", "EngineBenchmarks", "ServerBenchmarks", "StoreBenchmarks",
                "WireBenchmarks",
            ]
        ),
        .testTarget(
            name: "BenchmarkHarnessTests",
            dependencies: [
                harness,
                // Built with the rest, so that the command line is compiled optimized, too.
                .product(name: "cloudkit", package: cloudKitPackage),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The features in which swift-cloudkit itself is written; its manifest describes them.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]
}
