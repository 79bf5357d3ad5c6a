import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes the manifest of an archive, which describes the records, and lists their files.
struct ArchiveManifest {
    /// The maximum size of a manifest in bytes; it is kept until the archive's link expires.
    static let byteLimit = Limits.requestBodyBytes

    /// The keys of the manifest and of its records, which no client of this package reads.
    private enum Key: CodingKey {
        case zoneID, records
        case recordName, recordType, parent, created, modified, fields, files
    }

    private let desiredKeys: Set<String>?
    private var writer = JSONWriter(capacity: 16 * 1024)
    private var paths = ArchivePaths()
    private(set) var entries: [ArchivePlan.Entry] = []

    init(of zone: ZoneView, desiredKeys: [String]?) {
        self.desiredKeys = desiredKeys.map(Set.init)
        writer.openObject()
        writer.key(Key.zoneID)
        writer.zoneID(zone.id)
        writer.key(Key.records)
        writer.openArray()
    }

    /// Adds a record with its files.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` when the manifest or the archive becomes too large.
    mutating func add(_ record: StoredRecord) throws {
        var fields = try RecordFields(stored: record.fields).fields
        if let desiredKeys { fields = fields.filter { desiredKeys.contains($0.key) } }
        writer.openObject()
        writer.member(Key.recordName, record.name)
        writer.member(Key.recordType, record.type)
        writer.member(Key.parent, record.parent)
        writer.member(Key.created, record.created.milliseconds)
        writer.member(Key.modified, record.modified.milliseconds)
        writer.key(Key.fields)
        writer.fields(fields)
        writer.key(Key.files)
        writer.openObject()
        for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
            let assets: [(WireAsset, Int?)] =
                switch field.value {
                case .asset(let asset): [(asset, nil)]
                case .list(let values, of: .asset):
                    values.compactMap(\.asset).enumerated().map { ($1, $0 + 1) }
                default: []
                }
            guard !assets.isEmpty else { continue }
            writer.key(named: key)
            writer.openArray()
            for (asset, number) in assets {
                guard let checksum = asset.checksumData, let size = asset.size else { continue }
                let path = paths.path(record: record.name, field: key, number: number)
                writer.string(path)
                let file = ZipLayout.File(path: path, size: size)
                entries.append(ArchivePlan.Entry(file: file, checksum: checksum))
            }
            writer.closeArray()
        }
        writer.closeObject()
        writer.closeObject()
        guard writer.data.count <= Self.byteLimit else {
            throw Self.tooLarge("its manifest has more than \(Self.byteLimit) bytes")
        }
    }

    /// Returns the finished plan.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` when the archive would be too large.
    mutating func plan(expires: Int64) throws -> ArchivePlan {
        writer.closeArray()
        writer.closeObject()
        let size = Int64(writer.data.count)
        let file = ZipLayout.File(path: "manifest.json", size: size)
        let plan = ArchivePlan(
            expires: expires,
            manifest: writer.data,
            entries: [ArchivePlan.Entry(file: file)] + entries
        )
        guard plan.entries.count <= ZipLayout.fileLimit else {
            throw Self.tooLarge("it has more than \(ZipLayout.fileLimit) files")
        }
        guard plan.layout.size <= ZipLayout.byteLimit else {
            throw Self.tooLarge("it has more than \(ZipLayout.byteLimit) bytes")
        }
        return plan
    }

    private static func tooLarge(_ reason: String) -> RequestError {
        RequestError(
            .badRequest,
            reason: "The archive is too large: \(reason); request fewer records with includeRecords"
        )
    }
}
