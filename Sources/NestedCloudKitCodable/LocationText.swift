import CloudKit

/// Locations as text: "latitude;longitude".
enum LocationText {
    /// Returns the location that a text represents; nil for any other text.
    static func location(_ text: String) -> CLLocation? {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Double(parts[0]), let longitude = Double(parts[1]),
            abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        return CLLocation(latitude: latitude, longitude: longitude)
    }
}
