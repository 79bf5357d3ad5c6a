import CloudKitWire

extension WireValue {
    /// Returns the distance in metres on the great circle between two locations; infinite for other
    /// values.
    func distance(to other: WireValue) -> Double {
        guard case .location(let first) = self, case .location(let second) = other else {
            return .infinity
        }
        return first.distance(to: second)
    }
}
