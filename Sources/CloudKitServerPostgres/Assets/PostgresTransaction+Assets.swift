#if PostgreSQL
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A complete set of chunks.
struct AssetFile {
    var checksum: Data
    /// The number of the upload that brought the chunks.
    var upload: Data
    var size: Int64
    /// The only chunk of a small file.
    var bytes: Data?
    /// `true` when no newer set has the same bytes.
    var isNewest = true
}

// The rows of assets. Each call is one statement, which is a transaction of its own and can be repeated
// if the connection is lost: it then finds its rows there, and has the same result.
extension PostgresTransaction {
    /// The number of bytes of a chunk; the last one of a file may have fewer.
    static let chunkBytes = 256 * 1024
    /// The number of chunks that are removed at a time.
    private static let removedChunks = 64

    // MARK: Uploads

    /// Adds a chunk that is not the last one.
    ///
    /// - Returns: `false` when the upload has been removed meanwhile.
    func addChunk(_ bytes: Data, at start: Int64, of upload: Data) throws -> Bool {
        // The commit that completes the file makes everything before it durable.
        try !all(
            """
            WITH own AS (
                INSERT INTO asset_upload AS known (id) VALUES ($1)
                ON CONFLICT (id) DO UPDATE SET changed = DEFAULT WHERE NOT known.is_removed
                RETURNING id
            ), chunk AS (
                INSERT INTO asset_chunk (upload, start, bytes) SELECT id, $2, $3::bytea FROM own
                ON CONFLICT DO NOTHING
            )
            SELECT set_config('synchronous_commit', 'off', true) FROM own
            """,
            [.bytes(upload), .int(start), .bytes(bytes)]
        ) { _ in }.isEmpty
    }

    /// Adds the last chunk of an upload, and makes a file of all of them.
    ///
    /// - Parameters:
    ///   - file: The file; its bytes are those of the last chunk.
    ///   - start: The place of that chunk.
    /// - Returns: The sets of chunks with the same bytes, which the file has replaced; nil when the
    ///   upload has been removed meanwhile.
    /// - Throws: `PostgresFailure`.
    func complete(_ file: AssetFile, lastChunkAt start: Int64) throws -> [Data]? {
        let found = try all(
            """
            WITH own AS (
                DELETE FROM asset_upload
                WHERE id = $1 AND NOT is_removed AND $2::bigint = (
                    SELECT coalesce(sum(octet_length(bytes)), 0) FROM asset_chunk
                    WHERE upload = $1 AND start < $2
                )
                RETURNING id
            ), ready AS (
                SELECT $1::bytea AS upload WHERE CASE WHEN $2 > 0 THEN EXISTS (SELECT 1 FROM own)
                    ELSE NOT EXISTS (SELECT 1 FROM asset_upload WHERE id = $1) END
            ), chunk AS (
                INSERT INTO asset_chunk (upload, start, bytes)
                SELECT upload, $2, $3::bytea FROM ready WHERE $5::bigint > 0
                ON CONFLICT DO NOTHING
            ), file AS (
                INSERT INTO asset_file (checksum, upload, size)
                SELECT $4::bytea, upload, $5 FROM ready
                ON CONFLICT DO NOTHING
            ), former AS (
                DELETE FROM asset_file
                WHERE checksum = $4 AND upload <> $1 AND EXISTS (SELECT 1 FROM ready)
                RETURNING upload
            ), removed AS (
                INSERT INTO asset_upload (id, is_removed) SELECT upload, true FROM former
            )
            SELECT NULL::bytea WHERE EXISTS (SELECT 1 FROM ready)
                OR EXISTS (SELECT 1 FROM asset_file WHERE checksum = $4 AND upload = $1)
            UNION ALL SELECT upload FROM former
            """,
            [
                .bytes(file.upload), .int(start), .bytes(file.bytes), .bytes(file.checksum),
                .int(file.size),
            ]
        ) { $0.optionalBytes(0) }
        return found.isEmpty ? nil : found.compactMap(\.self)
    }

    // MARK: Files

    /// Returns the newest set of chunks with a checksum.
    func file(_ checksum: Data) throws -> AssetFile? {
        try all(
            """
            SELECT file.upload, file.size, chunk.bytes FROM asset_file AS file
            LEFT JOIN asset_chunk AS chunk
                ON chunk.upload = file.upload AND chunk.start = 0 AND file.size <= $2
            WHERE file.checksum = $1 ORDER BY file.stored DESC, file.upload DESC LIMIT 1
            """,
            [.bytes(checksum), .int(Int64(Self.chunkBytes))]
        ) { row in
            AssetFile(
                checksum: checksum,
                upload: row.bytes(0),
                size: row.int(1),
                bytes: row.optionalBytes(2)
            )
        }.first
    }

    /// Returns the bytes of a chunk from a place on; nil if they are not there.
    func chunk(of upload: Data, from place: Int64) throws -> Data? {
        // A version whose chunks have another size reads these too.
        try all(
            """
            SELECT start, bytes FROM asset_chunk WHERE upload = $1 AND start <= $2
            ORDER BY start DESC LIMIT 1
            """,
            [.bytes(upload), .int(place)]
        ) { row in
            let rest = row.bytes(1).dropFirst(Int(place - row.int(0)))
            return rest.isEmpty ? nil : Data(rest)
        }.first ?? nil
    }

    /// Returns the first files behind another one that were stored before a time, in order: those that
    /// no record holds, and those that newer ones have replaced.
    func unusedFiles(
        after last: AssetFile?,
        olderThan milliseconds: Int64,
        limit: Int
    ) throws -> [AssetFile] {
        try all(
            """
            SELECT checksum, upload, size, is_newest FROM (
                SELECT checksum, upload, size, NOT EXISTS (
                    SELECT 1 FROM asset_file AS newer WHERE newer.checksum = file.checksum
                        AND (newer.stored, newer.upload) > (file.stored, file.upload)
                ) AS is_newest
                FROM asset_file AS file WHERE (checksum, upload) > ($1, $2) AND stored < $3
            ) AS file
            WHERE NOT is_newest OR (
                NOT EXISTS (SELECT 1 FROM asset WHERE asset.checksum = file.checksum)
                AND NOT EXISTS (SELECT 1 FROM kept_asset AS kept WHERE kept.checksum = file.checksum)
            )
            ORDER BY checksum, upload LIMIT $4
            """,
            [
                .bytes(last?.checksum ?? Data()), .bytes(last?.upload ?? Data()),
                .int(milliseconds), .int(Int64(limit)),
            ]
        ) { row in
            AssetFile(
                checksum: row.bytes(0),
                upload: row.bytes(1),
                size: row.int(2),
                isNewest: row.bool(3)
            )
        }
    }

    // MARK: Removal

    /// Removes the files with a checksum that were stored before a time, or one of them.
    ///
    /// - Returns: The sets of chunks that nothing has any longer.
    func removeFiles(
        _ checksum: Data,
        upload: Data? = nil,
        olderThan milliseconds: Int64
    ) throws -> [Data] {
        try all(
            """
            WITH old AS (
                DELETE FROM asset_file WHERE checksum = $1 AND stored < $2
                    AND ($3::bytea IS NULL OR upload = $3)
                RETURNING upload
            ), removed AS (
                INSERT INTO asset_upload (id, is_removed) SELECT upload, true FROM old
            )
            SELECT upload FROM old
            """,
            [.bytes(checksum), .int(milliseconds), .bytes(upload)]
        ) { $0.bytes(0) }
    }

    /// Notes that an upload will not be completed; one that is a file already stays.
    func abandon(_ upload: Data) throws {
        _ = try all(
            "UPDATE asset_upload SET is_removed = true WHERE id = $1 RETURNING 1",
            [.bytes(upload)]
        ) { _ in }
    }

    /// Returns sets of chunks to remove: those of which that is noted, and of uploads in which nothing
    /// has happened since a time, whose nodes have ended.
    func abandonedUploads(unchangedSince milliseconds: Int64, limit: Int) throws -> [Data] {
        try all(
            """
            UPDATE asset_upload SET is_removed = true WHERE id IN (
                SELECT id FROM asset_upload WHERE is_removed OR changed < $1
                ORDER BY id LIMIT $2
            ) AND (is_removed OR changed < $1) RETURNING id
            """,
            [.int(milliseconds), .int(Int64(limit))]
        ) { $0.bytes(0) }
    }

    /// Removes some chunks of a set that is to be removed; returns whether there is more to do.
    ///
    /// The row of the set goes after its chunks, also where other nodes remove them at the same time.
    func removeChunks(of upload: Data) throws -> Bool {
        let removed = try all(
            """
            DELETE FROM asset_chunk WHERE upload = $1 AND start < coalesce((
                SELECT start FROM asset_chunk WHERE upload = $1
                ORDER BY start OFFSET \(Self.removedChunks) LIMIT 1
            ), \(Int64.max)) AND EXISTS (
                SELECT 1 FROM asset_upload WHERE id = $1 AND is_removed
            ) RETURNING 1
            """,
            [.bytes(upload)]
        ) { _ in }.count
        if removed == Self.removedChunks { return true }
        return try all(
            """
            WITH done AS (
                DELETE FROM asset_upload WHERE id = $1 AND is_removed AND NOT EXISTS (
                    SELECT 1 FROM asset_chunk WHERE upload = $1
                ) RETURNING id
            )
            SELECT 1 FROM asset_upload WHERE id = $1 AND is_removed
                AND NOT EXISTS (SELECT 1 FROM done)
            """,
            [.bytes(upload)]
        ) { _ in }.isEmpty == false
    }
}
#endif
