import Foundation

extension CKRecord {
    /// Applies the server's response to a save, after which the record has no changes.
    func acknowledge(_ update: (inout SystemFields) -> Void) {
        update(&system)
        plain.acknowledge()
        encrypted.acknowledge()
    }

    /// The version that the record's changes started from; empty for a record never saved.
    var ancestor: CKRecord {
        CKRecord(
            system: system,
            plain: recordChangeTag == nil ? FieldStore() : plain.original,
            encrypted: recordChangeTag == nil ? FieldStore() : encrypted.original
        )
    }

    /// The assets of changed fields, by field, in alphabetical order of the fields.
    var changedAssets: [(key: FieldKey, asset: CKAsset)] {
        plain.changedKeys.flatMap { key in (plain[key]?.assets ?? []).map { (key, $0) } }
    }
}

extension FieldValue {
    /// The assets in the value: none, one, or those of a list.
    var assets: [CKAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .list(let values): values.flatMap(\.assets)
        default: []
        }
    }

    /// `true` when the value is an asset or a list of assets.
    var isAsset: Bool {
        switch self {
        case .asset: true
        case .list(let values): values.first?.isAsset ?? false
        default: false
        }
    }
}
