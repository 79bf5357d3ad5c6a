import CloudKitWire
import CoreLocation
import Foundation

extension WireValue {
    /// Returns the API's form of a value; `asset` returns an asset's file.
    func native(
        owners: OwnerMapping,
        home: CKRecordZone.ID,
        asset: (WireAsset) -> CKAsset
    ) -> FieldValue {
        switch self {
        case .string(let string): .string(string)
        case .int64(let integer): .int64(integer)
        case .double(let double): .double(double)
        case .timestamp(let milliseconds): .date(Date(milliseconds: milliseconds))
        case .bytes(let data): .bytes(data)
        case .reference(let reference): .reference(reference.native(owners: owners, home: home))
        case .location(let location): .location(location.native)
        case .asset(let wire): .asset(asset(wire))
        case .list(let values, _):
            .list(values.map { $0.native(owners: owners, home: home, asset: asset) })
        }
    }
}

extension WireReference {
    func native(owners: OwnerMapping, home: CKRecordZone.ID) -> CKRecord.Reference {
        CKRecord.Reference(
            recordID: CKRecord.ID(
                // A name that the API refuses cannot come from the service, but must not end the
                // process either.
                recordName: recordName.isEmpty ? "_" : recordName,
                zoneID: zoneID.map(owners.native) ?? home
            ),
            action: action == .deleteSelf ? .deleteSelf : .none
        )
    }
}

extension WireLocation {
    fileprivate var native: CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: altitude ?? 0,
            horizontalAccuracy: horizontalAccuracy ?? 0,
            verticalAccuracy: verticalAccuracy ?? -1,
            course: course ?? -1,
            speed: speed ?? -1,
            timestamp: Date(milliseconds: timestamp ?? 0)
        )
    }
}
