import CloudKitServer
import CloudKitServerCore
import Foundation

#if PostgreSQL
import CloudKitServerPostgres

/// A PostgreSQL database with the data of servers.
struct ServerDatabase {
    let address: PostgresAddress

    /// Creates a database, without connecting to it.
    ///
    /// - Parameters:
    ///   - text: The address, which may have a password and is not printed.
    ///   - source: The option or the variable with the address, for messages.
    /// - Throws: `CommandFailure` for an address that is none.
    init(_ text: String, source: String) throws {
        do {
            address = try PostgresAddress(text)
        } catch {
            throw CommandFailure(unusable: "\(source): \(error.message)")
        }
    }

    /// The database and its hosts, for messages.
    var name: String { "the database \(address.description)" }

    /// The address without its passwords.
    var publicAddress: String { address.textWithoutPasswords }

    /// Connects to the database.
    ///
    /// - Parameters:
    ///   - makes: `true` to create the tables in a database that has none.
    ///   - settings: The settings of the storage.
    /// - Returns: The storages in the database.
    /// - Throws: `CommandFailure` when it cannot be reached or used.
    func open(makes: Bool, _ settings: Settings = Settings()) async throws -> Storages {
        do {
            let storage = try await PostgresStorage.open(
                address,
                durability: settings.isRelaxed ? .relaxed : .full,
                connections: settings.connections,
                partitions: settings.partitions,
                makesTables: makes,
                mayBeUnfinished: settings.mayBeUnfinished,
                reach: settings.patience,
                note: settings.noteReach
            )
            return Storages(data: storage, ownAssets: storage.assetStorage())
        } catch let error as StorageError {
            throw CommandFailure(unusable: "\(name) cannot be used: \(error.message)")
        }
    }
}
#else
/// A PostgreSQL database, which a program that was built without PostgreSQL refuses.
///
/// It is no type without values, with which the compiler takes the code for folders as unreachable.
struct ServerDatabase {
    /// Refuses each address.
    ///
    /// - Throws: `CommandFailure`.
    init(_ text: String, source: String) throws { throw Self.refusal(source) }

    /// The database, for messages.
    var name: String { "the database" }

    /// The address without its passwords.
    var publicAddress: String { "" }

    /// Refuses to connect.
    func open(makes: Bool, _ settings: Settings = Settings()) async throws -> Storages {
        throw Self.refusal(name)
    }

    /// Returns the refusal of a database.
    static func refusal(_ source: String) -> CommandFailure {
        CommandFailure(
            unusable:
                "\(source): this program was built without PostgreSQL; build it with the trait PostgreSQL, "
                + "such as with swift build --traits default,PostgreSQL"
        )
    }
}
#endif

extension ServerDatabase {
    /// The variable with the address, for commands that work on a server's data.
    static let variable = "CLOUDKIT_DATABASE"

    /// Returns whether a text is the URL of a database, and not the name of a file or a folder.
    static func isURL(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// The settings of a storage; without others, those of a command for which somebody waits.
    struct Settings {
        /// The numbers of partitions that tables may have.
        static let partitionRange = 0...1024

        /// `true` when the newest writes need not survive a failure of PostgreSQL.
        var isRelaxed = false
        /// The maximum number of connections.
        var connections = 2
        /// The number of partitions of tables that are created.
        var partitions = 0
        /// `true` for a database with a copy of other data that has not ended.
        var mayBeUnfinished = false
        /// The time for attempts to reach the database.
        var patience = Duration.seconds(5)
        /// A closure that is called when the database cannot be reached any more, and when it can again.
        var noteReach: @Sendable (DatabaseReach) -> Void = { _ in }
    }

    /// The storages in an open database.
    struct Storages {
        let data: any Storage
        /// The storage of assets in the database itself.
        let ownAssets: any AssetStorage
    }

    /// Returns the storage of assets where the database's servers keep them.
    ///
    /// - Throws: `CommandFailure` when they cannot be reached.
    func assets(of storages: Storages) async throws -> any AssetStorage {
        let location = try await AssetsNote(storage: storages.data).location()
        guard let location, location != AssetsNote.location(of: storages.ownAssets) else {
            return storages.ownAssets
        }
        return try AssetLocation(
            address: location,
            source: "The assets of \(name) are in",
            addressing: .ofProcess,
            isShared: true
        ).storage()
    }
}
