#if PostgreSQL
extension PostgresTables {
    // The bytes of assets. Their keys do not begin with the number of a user's database, because equal
    // bytes are stored once, whoever has them: a file's begins with its checksum. That is known when all
    // bytes have arrived, and chunks are stored while they arrive: a chunk's begins with the random
    // number of its upload. Both spread evenly over the partitions of tables that are divided by them.
    //
    // A set of chunks belongs to a file, or to a row of asset_upload while it is stored or removed. So
    // what a node leaves that ends in between is found without reading any chunk.
    static let assetFiles = [
        """
        CREATE TABLE asset_file (
            checksum bytea NOT NULL,
            upload bytea NOT NULL,
            size bigint NOT NULL,
            stored bigint NOT NULL DEFAULT \(now),
            PRIMARY KEY (checksum, upload)
        )
        """,
        """
        CREATE TABLE asset_upload (
            id bytea PRIMARY KEY,
            is_removed boolean NOT NULL DEFAULT false,
            changed bigint NOT NULL DEFAULT \(now)
        )
        """,
        """
        CREATE TABLE asset_chunk (
            upload bytea NOT NULL,
            start bigint NOT NULL,
            bytes bytea NOT NULL,
            PRIMARY KEY (upload, start)
        )
        """,
        // Photos and films are compressed already.
        "ALTER TABLE asset_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL",
    ]

    /// The milliseconds since 1970-01-01 UTC by the server's clock, which all nodes share.
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
}
#endif
