import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of a record and their stored form: the JSON object of the wire.
struct RecordFields: Hashable {
    var fields: [String: WireField]

    init(_ fields: [String: WireField] = [:]) {
        self.fields = fields
    }

    /// Reads the stored form.
    init(stored: Data) throws {
        do {
            fields = try WireJSON.decode([String: WireField].self, from: stored)
        } catch {
            throw StorageError(.corrupt, "The fields of a stored record cannot be read: \(error)")
        }
    }

    /// The fields of a record; none of a damaged one.
    init(of record: StoredRecord) throws {
        if record.isDamaged { self.init() } else { try self.init(stored: record.fields) }
    }

    /// The stored form.
    var stored: Data {
        var writer = JSONWriter(capacity: 1024)
        writer.fields(fields)
        return writer.data
    }

    /// Whether a field holds an asset.
    var hasAssets: Bool {
        fields.values.contains { $0.value?.type.scalar == .asset }
    }

    /// The assets in all fields.
    var assets: [WireAsset] {
        values(of: .asset).flatMap { value -> [WireAsset] in
            switch value {
            case .asset(let asset): [asset]
            case .list(let values, _): values.compactMap(\.asset)
            default: []
            }
        }
    }

    /// The references in all fields.
    var references: [WireReference] {
        values(of: .reference).flatMap { value -> [WireReference] in
            switch value {
            case .reference(let reference): [reference]
            case .list(let values, _): values.compactMap(\.reference)
            default: []
            }
        }
    }

    /// The values of one type and the lists of it, by the names of their fields.
    private func values(of scalar: FieldType.Scalar) -> [WireValue] {
        let names = fields.filter { $0.value.value?.type.scalar == scalar }.keys
        return names.sorted().compactMap { fields[$0]?.value }
    }
}

extension WireValue {
    /// The asset; nil for other values.
    var asset: WireAsset? {
        if case .asset(let asset) = self { asset } else { nil }
    }

    /// The reference; nil for other values.
    var reference: WireReference? {
        if case .reference(let reference) = self { reference } else { nil }
    }
}

extension RecordFields {
    /// What the fields take of a quota: their own size and that of their assets.
    var storedBytes: Int64 { assets.reduce(Int64(byteCount)) { $0 + ($1.size ?? 0) } }

    /// The size of a record with these fields, without its assets, as the limit counts it.
    var byteCount: Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value.value?.byteCount ?? 0) }
    }
}

extension StoredRecord {
    /// What the record takes of a quota; nothing of one that is deleted or cannot be read.
    package var storedBytes: Int64 {
        isDeleted ? 0 : (try? RecordFields(of: self).storedBytes) ?? 0
    }
}
