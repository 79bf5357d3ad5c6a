import CloudKitWire

/// The records of a zone that a request selects: all, some, or all but some; of a share or of the zone.
struct RecordSelection {
    /// A record's name, alone or as the only relevant key of an object.
    struct Name: Decodable {
        let recordName: String

        private enum CodingKeys: CodingKey { case recordName }

        init(from decoder: any Decoder) throws {
            // Anything but a name is read below, or throws.
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                recordName = text
            } else {
                let object = try decoder.container(keyedBy: CodingKeys.self)
                recordName = try object.decode(String.self, forKey: .recordName)
            }
        }
    }

    private let included: [String]?
    private let excluded: Set<String>
    private let share: String?

    /// Creates a selection.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if records are both included and excluded.
    init(include: [Name]?, exclude: [Name]?, share: String?) throws(RequestError) {
        guard include == nil || exclude == nil else {
            throw RequestError(
                .badRequest,
                reason: "The request has includeRecords and excludeRecords; send one of them"
            )
        }
        var seen: Set<String> = []
        included = include?.map(\.recordName).filter { seen.insert($0).inserted }
        excluded = Set(exclude?.map(\.recordName) ?? [])
        self.share = share
    }

    /// Visits the records that the caller may read, oldest change first or in the order of their
    /// names in the request.
    ///
    /// Deleted records and shares are left out.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a named record or a share that does not exist,
    ///   or an error of the closure.
    func forEach(
        in zone: ZoneView,
        _ sight: RecordSight,
        _ reader: any StorageReader,
        _ body: (StoredRecord) throws -> Void
    ) throws {
        let within = try share.map { try access(through: $0, zone, sight, reader) } ?? .everything
        func isSelected(_ record: StoredRecord) throws -> Bool {
            try !record.isDeleted && record.type != WireRecord.shareType
                && sight.shows(record, reader) && within.reaches(record, reader)
        }
        if let included {
            for name in included {
                guard let record = try reader.record(zone.zone.id, name: name),
                    try isSelected(record)
                else {
                    throw RequestError(.notFound, reason: "Record not found: '\(name)'")
                }
                try body(record)
            }
            return
        }
        var sequence: Int64 = 0
        while true {
            let page = try reader.changedRecords(zone.zone.id, after: sequence, limit: 500)
            guard let last = page.last else { return }
            for record in page where try isSelected(record) && !excluded.contains(record.name) {
                try body(record)
            }
            sequence = last.sequence
        }
    }

    /// Returns the access to the part of a zone that a share covers.
    private func access(
        through share: String,
        _ zone: ZoneView,
        _ sight: RecordSight,
        _ reader: any StorageReader
    ) throws -> ZoneAccess {
        guard let row = try reader.record(zone.zone.id, name: share), !row.isDeleted,
            try sight.shows(row, reader), let part = try row.sharePart
        else { throw RequestError(.notFound, reason: "Share not found: '\(share)'") }
        return .shares([ZoneAccess.Opening(share: share, root: part.root, canWrite: false)])
    }
}
