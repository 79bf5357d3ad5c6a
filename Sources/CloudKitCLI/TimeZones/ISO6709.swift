/// The coordinates of ISO 6709's compact form: `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
package enum ISO6709 {
    /// Returns degrees north and east; nil for text of another form.
    package static func degrees(
        _ text: some StringProtocol
    ) -> (latitude: Double, longitude: Double)? {
        guard let split = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }),
            let latitude = degrees(text[..<split], digits: 2, limit: 90),
            let longitude = degrees(text[split...], digits: 3, limit: 180)
        else { return nil }
        return (latitude, longitude)
    }

    private static func degrees(
        _ text: some StringProtocol,
        digits: Int,
        limit: Double
    ) -> Double? {
        let number = text.dropFirst()
        guard let sign = text.first, sign == "+" || sign == "-",
            number.allSatisfy({ $0.isASCII && $0.isNumber }),
            number.count == digits + 2 || number.count == digits + 4,
            let degrees = Double(number.prefix(digits)),
            let minutes = Double(number.dropFirst(digits).prefix(2)), minutes < 60
        else { return nil }
        let seconds = Double(number.dropFirst(digits + 2)) ?? 0
        let value = degrees + minutes / 60 + seconds / 3600
        guard seconds < 60, value <= limit else { return nil }
        return sign == "-" ? -value : value
    }
}
