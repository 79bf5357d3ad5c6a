import Support

/// The topics of schedules.
enum SimulationVariant: String, CaseIterable, Sendable {
    /// One user's rows, with everything that may happen to them.
    case plain
    /// Rows that have a UNIQUE column besides their key, and rows that refer to them.
    case unique
    /// A tree of rows that one user shares with another.
    case permissions
    /// The rows of a whole zone that one user shares with another.
    case everything
    /// Rows with assets, and processes that end during transfers.
    case assets
    /// The rows of plain schedules, edited by several devices before any of them receives the other
    /// changes.
    case meetings
    /// Trees of rows that refer to each other, which three users share; see ``FamilySimulation``.
    case families

    /// The variants of ``StoreSimulation``.
    static let allCases: [Self] = [.plain, .unique, .permissions, .everything, .assets, .meetings]

    /// The number of its schedules that run with the other tests; `Scripts/check schedules` runs more.
    var count: UInt64 {
        switch self {
        case .plain: 60
        case .unique: 20
        case .permissions: 12
        case .everything: 8
        case .assets: 10
        case .meetings: 10
        case .families: 0
        }
    }

    /// The number of steps in a schedule.
    var stepCount: Int { self == .plain ? 30 : 20 }

    /// `true` when one user shares rows with another.
    var isShared: Bool { [.permissions, .everything, .families].contains(self) }

    /// `true` when there is a newer version of its app.
    var hasUpgrade: Bool { self == .assets || hasPlainRows }

    /// `true` when its rows are those of the plain schedules.
    var hasPlainRows: Bool { self == .plain || self == .meetings }
}

extension SimulationStep.Edit {
    /// Returns a random edit of a variant's app.
    static func random(_ variant: SimulationVariant, _ chance: inout SeededRandom) -> Self {
        switch variant {
        case .plain, .meetings: random(&chance)
        case .unique: randomUnique(&chance)
        case .permissions, .everything, .families: randomShared(&chance)
        case .assets: randomAsset(&chance)
        }
    }

    private static func randomUnique(_ chance: inout SeededRandom) -> Self {
        switch chance.number(0...99) {
        case 0..<28: .insertLabel
        case 28..<48: .insertEntry
        case 48..<56: .insertPin
        case 56..<66: .colourLabel
        case 66..<72: .titleEntry
        case 72..<82: .moveEntry
        case 82..<86: .movePin
        case 86..<94: .deleteLabel
        case 94..<98: .deleteEntry
        default: .deletePin
        }
    }

    private static func randomShared(_ chance: inout SeededRandom) -> Self {
        switch chance.number(0...99) {
        case 0..<10: .insertBoard
        case 10..<32: .insertCard
        case 32..<40: .renameBoard
        case 40..<62: .cardTitle
        case 62..<80: .cardBody
        case 80..<88: .moveCard
        case 88..<91: .deleteBoard
        default: .deleteCard
        }
    }

    private static func randomAsset(_ chance: inout SeededRandom) -> Self {
        switch chance.number(0...99) {
        case 0..<20: .insertNote
        case 20..<66: .photo
        case 66..<72: .clearPhoto
        case 72..<76: .deleteNote
        default: random(&chance)
        }
    }
}
