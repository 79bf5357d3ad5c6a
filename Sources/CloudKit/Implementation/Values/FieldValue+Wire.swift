import CloudKitWire
import CoreLocation
import Foundation

/// The reason why a value cannot be sent; the caller adds record and field.
struct UnsendableValue: Error {
    let reason: String
}

extension FieldValue {
    /// Returns the wire's form of a value in a record of the zone `home`.
    ///
    /// References leave that zone out; with a nil `home` they name every zone. `upload` returns the
    /// receipt of an asset's upload.
    func wire(
        owners: OwnerMapping,
        home: CKRecordZone.ID?,
        upload: (CKAsset) throws(UnsendableValue) -> WireAsset
    ) throws(UnsendableValue) -> WireValue {
        switch self {
        case .string(let string): .string(string)
        case .int64(let integer): .int64(integer)
        case .unsigned(let integer):
            throw UnsendableValue(reason: "\(integer) is beyond the 64 bits of a signed integer")
        case .double(let double) where double.isFinite: .double(double)
        case .double(let double): throw UnsendableValue(reason: "\(double) is not a finite number")
        case .date(let date): .timestamp(try date.milliseconds())
        case .bytes(let data): .bytes(data)
        case .reference(let reference): .reference(reference.wire(owners: owners, home: home))
        case .asset(let asset): .asset(try upload(asset))
        case .location(let location): .location(try location.wire())
        case .list(let values): try Self.list(values, owners: owners, home: home, upload: upload)
        }
    }

    private static func list(
        _ values: [FieldValue],
        owners: OwnerMapping,
        home: CKRecordZone.ID?,
        upload: (CKAsset) throws(UnsendableValue) -> WireAsset
    ) throws(UnsendableValue) -> WireValue {
        var elements: [WireValue] = []
        elements.reserveCapacity(values.count)
        for value in values {
            elements.append(try value.wire(owners: owners, home: home, upload: upload))
        }
        let types = Set(elements.map(\.type))
        if types == [FieldType(.int64), FieldType(.double)] {
            return .list(
                try elements.map { element throws(UnsendableValue) in try element.asDouble() },
                of: .double
            )
        }
        guard types.count <= 1 else {
            let names = types.map(\.description).sorted().joined(separator: " and ")
            throw UnsendableValue(reason: "the list mixes \(names); a list has one type")
        }
        return .list(elements, of: types.first?.scalar)
    }
}

extension WireValue {
    fileprivate func asDouble() throws(UnsendableValue) -> WireValue {
        guard case .int64(let integer) = self else { return self }
        guard let double = Double(exactly: integer) else {
            throw UnsendableValue(
                reason: "the list mixes fractions with \(integer), which a fraction cannot hold"
            )
        }
        return .double(double)
    }
}

extension Date {
    /// Returns whole milliseconds since 1970, the service's precision; finer parts are cut off.
    ///
    /// Never rounded up, because a merge by time would take the echo of a value for a newer one.
    /// But a date below a whole millisecond by no more than a rounding error is that millisecond: a
    /// date that was computed differently is equal in a query.
    func milliseconds() throws(UnsendableValue) -> Int64 {
        guard let nearest = Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) else {
            // A date that is not a number ends the process where it is printed as a date.
            throw UnsendableValue(
                reason: "a date of \(timeIntervalSinceReferenceDate) s after 2001 is out of range"
            )
        }
        // A comparison, because whole milliseconds from the service must be sent unchanged.
        return timeIntervalSince(Date(milliseconds: nearest)) >= -rounding ? nearest : nearest - 1
    }

    /// The rounding error of a computed date: two steps of a `Double`, half a microsecond for
    /// current dates.
    private var rounding: Double {
        2 * max(abs(timeIntervalSince1970), abs(timeIntervalSinceReferenceDate)).ulp
    }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension CKRecord.Reference {
    func wire(owners: OwnerMapping, home: CKRecordZone.ID?) -> WireReference {
        WireReference(
            recordName: owners.wire(recordName: recordID.recordName),
            zoneID: home.map(recordID.zoneID.isEqual) ?? false ? nil : owners.wire(recordID.zoneID),
            action: action == .deleteSelf ? .deleteSelf : WireReference.Action.none
        )
    }
}

extension CLLocation {
    fileprivate func wire() throws(UnsendableValue) -> WireLocation {
        let numbers = [
            coordinate.latitude, coordinate.longitude, horizontalAccuracy, verticalAccuracy,
            altitude, speed, course,
        ]
        guard numbers.allSatisfy(\.isFinite) else {
            throw UnsendableValue(reason: "the location has a number that is not finite")
        }
        return WireLocation(
            latitude: coordinate.latitude,
            longitude: coordinate.longitude,
            horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy,
            altitude: altitude,
            speed: speed,
            course: course,
            timestamp: try timestamp.milliseconds()
        )
    }
}
