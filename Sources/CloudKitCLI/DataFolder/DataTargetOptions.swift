import ArgumentParser

/// The options of commands that fill a place with the data of a server.
struct DataTargetOptions: ParsableArguments {
    @Option(
        help: """
            The place of the copy's assets, such as s3://my-bucket/assets; own for the folder or the \
            database itself. By default assets of a server in S3 stay where they are.
            """
    )
    var assets: String?

    @Option(help: .databasePartitions)
    var databasePartitions: Int?

    /// Refuses options that do not fit the place.
    ///
    /// - Throws: `CommandFailure`.
    func check(_ place: ServerData.Place) throws {
        guard let databasePartitions else { return }
        if case .folder = place {
            throw CommandFailure(
                unusable: "--database-partitions is for a database; leave it out for a folder"
            )
        }
        guard ServerDatabase.Settings.partitionRange ~= databasePartitions else {
            throw CommandFailure(unusable: "--database-partitions is a number from 0 to 1024")
        }
    }
}
