import ArgumentParser
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging

/// The options of `serve` alone: its address, its clients and its storage.
struct ServeOptions: ParsableArguments {
    @Option(help: "The folder of the data, created if necessary; cloudkit-data by default.")
    var data: String?

    @Option(
        help: """
            The PostgreSQL database of the data instead of a folder, which several servers may share, such as \
            postgres://user@host/name. PGPASSWORD, or the file of PGPASSFILE, has its password.
            """
    )
    var database: String?

    @Option(help: "The maximum number of connections to the database, 8 by default.")
    var databaseConnections: Int?

    @Option(help: .databasePartitions)
    var databasePartitions: Int?

    @Option(
        help: """
            The place of assets, such as s3://my-bucket/assets, or with --database a folder that all servers \
            share; by default the folder of the data, or the database. Keys, region and server of S3 come from \
            AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL_S3.
            """
    )
    var assets: String?

    @Option(
        help: """
            The place of a bucket's name in URLs: path, host, or auto, the default: host at Amazon, path \
            elsewhere.
            """
    )
    var assetsAddressing: AssetLocation.Addressing?

    @Flag(
        help: """
            Send clients to S3 for downloads, with signed URLs, so that the bytes do not pass the server.
            """
    )
    var directDownloads = false

    @Flag(help: "Let --container add a container to data that has others.")
    var newContainer = false

    @Option(help: "The port to listen on, 8787 by default; 0 takes a free one.")
    var port: Int?

    @Option(
        help: """
            The address to listen on, 127.0.0.1 by default. An address other than loopback admits \
            other machines: put a proxy with TLS before the server.
            """
    )
    var host: String?

    @Option(
        name: .customLong("allowed-host"),
        help: "A host name that requests may use, beside the loopback ones; repeatable."
    )
    var allowedHosts: [String] = []

    @Option(
        name: .customLong("allowed-origin"),
        help: "An origin whose web pages may call the server, beside loopback; repeatable."
    )
    var allowedOrigins: [String] = []

    @Option(help: "The URL with which clients reach the server behind a proxy.")
    var publicURL: String?

    @Option(
        name: .customLong("trusted-proxy"),
        help: """
            The address of a proxy whose X-Forwarded-For, -Host and -Proto are trusted, and of no \
            other peer; repeatable.
            """
    )
    var trustedProxies: [String] = []

    @Option(
        help: """
            The durability of a write before its response: full, the default, survives a power \
            failure; relaxed survives only the end of the process, and is faster if syncing the disk \
            is slow. With --database, full is what PostgreSQL's synchronous_commit promises.
            """
    )
    var durability: Durability?

    @Option(help: "Seconds after which a silent connection is closed, 75 by default.")
    var idleSeconds: Int?

    @Option(help: "Seconds for a request to arrive, plus time for its bytes; 60 by default.")
    var requestSeconds: Int?

    @Option(help: "The maximum number of connections, 800 by default.")
    var maxConnections: Int?

    @Option(help: "The maximum number of connections from one address, 250 by default.")
    var maxConnectionsPerAddress: Int?

    @Option(help: "Bytes of bodies, and of responses, in memory at most; 256 MiB by default.")
    var memoryBytes: String?

    @Option(help: "Days that a user stays signed in without using the token, 14 by default.")
    var sessionDays: Int?

    @Option(help: "Days for which the server keeps deletions, 90 by default.")
    var tombstoneDays: Int?

    @Flag(
        help: """
            Accept each web auth token for one request, whose response has the next one, and once \
            more in case that response was lost; any other use of it ends the session. For clients \
            that send one request at a time and keep the newest token.
            """
    )
    var rotateTokens = false

    @Option(
        name: .customLong("sign-in-callback"),
        help: """
            A URL to which users may be redirected with their token after signing in, such as \
            myapp://signed-in, beside loopback; repeatable.
            """
    )
    var signInCallbacks: [String] = []

    @Option(help: "The maximum number of bytes in a request body.")
    var maxRequestBytes: String?

    @Option(help: "The maximum number of bytes in an asset.")
    var maxAssetBytes: String?

    @Option(
        help:
            "Seconds for requests in flight to end when the server stops; 10 by default."
    )
    var stopSeconds: Int?

    @Option(
        help: """
            A file with the key for the routes of operators, which are otherwise closed on a server \
            that is not on loopback. On loopback a new key is printed at each start.
            """
    )
    var adminKeyFile: String?

    @Option(help: "The format of log lines: text, the default, or json.")
    var logFormat: LogFormat?

    @Option(help: "The lowest level of log lines that are written: warning by default.")
    var logLevel: LogLevel?

    /// The names of the durabilities.
    enum Durability: String, ExpressibleByArgument, CaseIterable {
        case full, relaxed
    }

    /// The names of the levels.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical

        /// The level.
        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
    }

    /// A database with the settings of its storage.
    struct Database {
        var place: ServerDatabase
        var settings: ServerDatabase.Settings
    }

    /// The server settings that are not part of its configuration.
    struct Choice {
        /// The folder of the data; nil for a database.
        var data: String?
        /// The database, which has yet to be opened.
        var database: Database?
        var stopSeconds: Int
        var logger: Logger
        /// `true` when the operators' key is in a file, from which its users know it.
        var hasKeyFile: Bool
        /// `true` when the named container may be added to data that has others.
        var addsContainer: Bool

        /// The place of the data, for messages.
        var name: String { data ?? database?.place.name ?? "" }
    }

    /// Reads the settings into a configuration.
    ///
    /// - Throws: `CommandFailure` when a setting cannot be used.
    func read(
        from settings: inout ServerSettings,
        into configuration: inout CloudServer.Configuration
    ) throws -> Choice {
        let durability = try settings.word("durability", durability, default: .full)
        configuration.durability = durability == .full ? .full : .relaxed
        let database = try readDatabase(from: &settings, durability)
        let data = try readData(from: &settings, database)
        configuration.directory = data
        configuration.assets = try readAssets(from: &settings, data)
        try readAddress(from: &settings, into: &configuration)
        try readLimits(from: &settings, into: &configuration)
        configuration.service.rotatesWebTokens =
            try settings.flag("rotate-tokens", rotateTokens ? true : nil)
        let keyFile = try settings.text("admin-key-file", adminKeyFile)
        configuration.administrationKey = try keyFile.map(Self.key)
        let format = try settings.word("log-format", logFormat, default: .text)
        let level = try settings.word("log-level", logLevel, default: .warning)
        return Choice(
            data: data,
            database: database,
            stopSeconds: try settings.number(
                "stop-seconds",
                stopSeconds,
                default: 10,
                in: Self.seconds
            ),
            logger: format.logger(level.level),
            hasKeyFile: keyFile != nil,
            addsContainer: try settings.flag("new-container", newContainer ? true : nil)
        )
    }

    /// Returns the database; nil if the data is in a folder.
    private func readDatabase(
        from settings: inout ServerSettings,
        _ durability: Durability
    ) throws -> Database? {
        let address = try settings.text("database", database)
        let place: ServerDatabase? = try address.map {
            try ServerDatabase($0, source: settings.place("database"))
        }
        if let place { settings.show("database", as: place.publicAddress) }
        let connections = try settings.number(
            "database-connections",
            databaseConnections,
            default: 8,
            in: 1...1000
        )
        let partitions = try settings.number(
            "database-partitions",
            databasePartitions,
            default: 0,
            in: ServerDatabase.Settings.partitionRange
        )
        guard let place else {
            for name in ["database-connections", "database-partitions"]
            where !settings.isDefault(name) {
                throw CommandFailure(
                    unusable:
                        "\(settings.place(name)): the data is in a folder, not in a database; name one "
                        + "with --database, or leave \(name) out"
                )
            }
            return nil
        }
        return Database(
            place: place,
            settings: ServerDatabase.Settings(
                isRelaxed: durability == .relaxed,
                connections: connections,
                partitions: partitions,
                patience: .seconds(20)
            )
        )
    }

    /// Returns the folder of the data; nil if it is in a database.
    private func readData(
        from settings: inout ServerSettings,
        _ database: Database?
    ) throws -> String? {
        guard database != nil else {
            let named = try settings.text("data", data)
            let variable = ServerDatabase.variable
            // Other commands would work on that database, and this one on a new folder.
            if named == nil, ProcessInfo.processInfo.environment[variable] != nil {
                throw CommandFailure(
                    unusable:
                        "\(variable) names a database for other commands; give serve --database "
                        + "$\(variable), or name a folder with --data"
                )
            }
            return try settings.text("data", data, default: ServerData.usualFolder)
        }
        guard try settings.text("data", data) == nil else {
            throw ServerData.twoPlaces(settings.place("data"), settings.place("database"))
        }
        return nil
    }

    /// Returns the storage of assets that are not in the folder or the database; nil if they are.
    private func readAssets(
        from settings: inout ServerSettings,
        _ data: String?
    ) throws -> (any AssetStorage)? {
        let address = try settings.text("assets", assets)
        let addressing =
            try settings.word("assets-addressing", assetsAddressing, default: .auto)
        let isDirect = try settings.flag("direct-downloads", directDownloads ? true : nil)
        guard let address else {
            guard !isDirect else {
                throw CommandFailure(
                    unusable:
                        "\(settings.place("direct-downloads")): the assets are in the "
                        + (data == nil ? "database" : "folder of the data")
                        + ", which only the server reads; name a place with --assets, or leave "
                        + "direct-downloads out"
                )
            }
            return nil
        }
        return try AssetLocation(
            address: address,
            source: settings.place("assets"),
            addressing: addressing,
            isDirect: isDirect,
            folder: data,
            isShared: data == nil
        ).storage()
    }

    private func readAddress(
        from settings: inout ServerSettings,
        into configuration: inout CloudServer.Configuration
    ) throws {
        configuration.port = try settings.number("port", port, default: 8787, in: 0...65535)
        configuration.host = try settings.text("host", host, default: "127.0.0.1")
        configuration.publicURL = try settings.text("public-url", publicURL)
        configuration.allowedHosts = Set(try settings.texts("allowed-host", allowedHosts))
        configuration.allowedOrigins = Set(try settings.texts("allowed-origin", allowedOrigins))
        configuration.trustedProxies = Set(try settings.texts("trusted-proxy", trustedProxies))
        configuration.signInCallbacks =
            Set(try settings.texts("sign-in-callback", signInCallbacks))
    }

    private func readLimits(
        from settings: inout ServerSettings,
        into configuration: inout CloudServer.Configuration
    ) throws {
        func number(
            _ name: String,
            _ given: Int?,
            _ value: Int,
            _ range: ClosedRange<Int>
        ) throws -> Int {
            try settings.number(name, given, default: value, in: range)
        }
        configuration.idleSeconds = try number("idle-seconds", idleSeconds, 75, Self.seconds)
        configuration.requestSeconds =
            try number("request-seconds", requestSeconds, 60, Self.seconds)
        configuration.maxConnections =
            try number("max-connections", maxConnections, 800, Self.connections)
        configuration.maxConnectionsPerAddress = try number(
            "max-connections-per-address",
            maxConnectionsPerAddress,
            min(250, configuration.maxConnections),
            Self.connections
        )
        guard configuration.maxConnectionsPerAddress <= configuration.maxConnections else {
            throw CommandFailure(
                unusable:
                    "max-connections-per-address is \(configuration.maxConnectionsPerAddress), and "
                    + "max-connections is \(configuration.maxConnections), which no address can exceed; "
                    + "lower the first, or raise the second"
            )
        }
        func bytes(_ name: String, _ given: String?, _ value: Int) throws -> Int {
            try settings.bytes(name, given, default: value, upTo: Self.mostBytes)
        }
        configuration.memoryBytes = try bytes("memory-bytes", memoryBytes, 256 << 20)
        configuration.service.requestBodyBytes =
            try bytes("max-request-bytes", maxRequestBytes, Limits.requestBodyBytes)
        configuration.service.assetBytes =
            try bytes("max-asset-bytes", maxAssetBytes, Limits.assetBytes)
        configuration.service.webTokenSeconds =
            Int64(try number("session-days", sessionDays, 14, Self.days)) * Self.secondsOfDay
        configuration.service.tombstoneSeconds =
            Int64(try number("tombstone-days", tombstoneDays, 90, Self.days)) * Self.secondsOfDay
    }

    // What the settings may be: no sum of them overflows.
    private static let seconds = 1...31_536_000
    private static let days = 1...36_500
    private static let connections = 1...1_000_000
    private static let mostBytes = ByteCount(bytes: 1 << 40)
    private static let secondsOfDay: Int64 = 24 * 60 * 60

    /// Returns the key for the routes of operators in a file.
    ///
    /// - Throws: `CommandFailure` when it has none.
    static func key(in file: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandFailure(
                unusable:
                    "--admin-key-file \(file): there is no file that this user can read; make one "
                    + "with a key of 16 characters or more"
            )
        }
        let key = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard key.utf8.count >= 16 else {
            throw CommandFailure(
                unusable: "--admin-key-file \(file): the file must hold a key of 16 characters or "
                    + "more"
            )
        }
        guard OperatorOptions.isKey(key) else {
            throw CommandFailure(
                unusable: "--admin-key-file \(file): the key has a line break or another character "
                    + "beyond ASCII, which a request cannot carry"
            )
        }
        return key
    }
}
