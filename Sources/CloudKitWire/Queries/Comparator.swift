/// The comparisons of a field with a filter's value ("Filter Dictionary" in Apple's reference; the
/// list comparators with `ANY` are CloudKit JS's).
public enum Comparator: String, Hashable, Sendable, Codable, CaseIterable {
    /// The field equals the value.
    case equals = "EQUALS"
    /// The field differs from the value.
    case notEquals = "NOT_EQUALS"
    /// The field is below the value.
    case lessThan = "LESS_THAN"
    /// The field is not above the value.
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    /// The field is above the value.
    case greaterThan = "GREATER_THAN"
    /// The field is not below the value.
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    /// The location is within the filter's distance of the value.
    case near = "NEAR"
    /// The text contains every word of the value.
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    /// The text contains at least one word of the value.
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    /// The field is one of the values.
    case `in` = "IN"
    /// The field is none of the values.
    case notIn = "NOT_IN"
    /// The list contains the value.
    case listContains = "LIST_CONTAINS"
    /// The list does not contain the value.
    case notListContains = "NOT_LIST_CONTAINS"
    /// The list contains at least one of the values.
    case listContainsAny = "LIST_CONTAINS_ANY"
    /// The list contains none of the values.
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    /// The list contains all of the values.
    case listContainsAll = "LIST_CONTAINS_ALL"
    /// The list lacks at least one of the values.
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    /// The text starts with the value.
    case beginsWith = "BEGINS_WITH"
    /// The text does not start with the value.
    case notBeginsWith = "NOT_BEGINS_WITH"
    /// A member of the list starts with the value.
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    /// No member of the list starts with the value.
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
}
